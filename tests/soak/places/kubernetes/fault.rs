//! Every way in which the slices make no list.

use crate::truth::Excuse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Slow,
    Silent,
    Reset,
    Forbidden,
    Broken,
    CutPage,
    /// The list is forgotten between two pages, again and again.
    AlwaysGone,
    /// The second page is refused.
    SecondFails,
    NoList,
    /// It repeats the token.
    Echo,
    /// No slice has the port that is wanted.
    WrongPorts,
    /// A part of it makes no sense.
    WrongSlice,
}

/// What is said of a list that is forgotten again and again.
pub(super) const GONE: Excuse = Excuse::Saying(&["the API server answered 410 "]);

impl Fault {
    /// What it is an excuse for.
    pub(super) fn excuse(self) -> Excuse {
        Excuse::Saying(match self {
            Self::Slow => return Excuse::Slow,
            Self::Silent => return Excuse::Silent,
            Self::AlwaysGone => return GONE,
            Self::Reset => &["Connection reset by peer"],
            Self::Forbidden => &["the API server answered 403 "],
            Self::Broken => &["the API server answered 500 "],
            Self::SecondFails => &["the API server answered 503 "],
            Self::CutPage => &["TLS: the connection ended without the end of TLS"],
            Self::NoList | Self::Echo | Self::WrongSlice => &["reading the slices: "],
            Self::WrongPorts => &["no slice has the port ", "the slices have several ports"],
        })
    }
}

pub(super) const FAULTS: [Fault; 12] = [
    Fault::Slow,
    Fault::Silent,
    Fault::Reset,
    Fault::Forbidden,
    Fault::Broken,
    Fault::CutPage,
    Fault::AlwaysGone,
    Fault::SecondFails,
    Fault::NoList,
    Fault::Echo,
    Fault::WrongPorts,
    Fault::WrongSlice,
];
