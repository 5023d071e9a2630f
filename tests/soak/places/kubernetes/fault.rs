//! Every way in which the slices make no list.

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
    /// No slice has the port that is wanted.
    WrongPorts,
    /// A part of it makes no sense.
    WrongSlice,
}

pub(super) const FAULTS: [Fault; 11] = [
    Fault::Slow,
    Fault::Silent,
    Fault::Reset,
    Fault::Forbidden,
    Fault::Broken,
    Fault::CutPage,
    Fault::AlwaysGone,
    Fault::SecondFails,
    Fault::NoList,
    Fault::WrongPorts,
    Fault::WrongSlice,
];
