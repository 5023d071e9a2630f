//! Who asks, in a file: a token or a password, which is another one now and then, and is not there for a moment.

use std::collections::VecDeque;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::chance::Chance;
use crate::stage::{SECRET, Stage};
use crate::truth::{Excuse, ON_THE_WAY, Place, TIMEOUT};

const USER: &str = "vigie";
/// Who asks at some of the places.
const WAYS: [(u8, Way); 5] = [
    (1, Way::Bearer),
    (2, Way::Basic),
    (4, Way::Bearer),
    (6, Way::Basic),
    (7, Way::Basic),
];
/// Whether there is no file for a while before the next one.
const GAPS: [bool; 3] = [false, false, true];

/// How it is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Bearer,
    Basic,
}

/// The file of one place.
pub(super) struct Login {
    way: Way,
    number: u8,
    secrets: Mutex<Secrets>,
}

struct Secrets {
    chance: Chance,
    /// Of [`GAPS`].
    gaps: Vec<bool>,
    count: u32,
    until: Instant,
    is_away: bool,
    /// Those of before, and when each was there last.
    former: VecDeque<(u32, Instant)>,
}

impl Login {
    /// That of the place of a number; some have none.
    pub(super) fn of(seed: u64, number: u8) -> Option<Self> {
        let (_, way) = WAYS.into_iter().find(|(of, _)| *of == number)?;
        Some(Self {
            way,
            number,
            secrets: Mutex::new(Secrets {
                chance: Chance::of(seed, &format!("login of place {number}")),
                gaps: Vec::new(),
                count: 0,
                until: Instant::now(),
                is_away: false,
                former: VecDeque::new(),
            }),
        })
    }

    /// As the source has it.
    pub(super) fn keys(&self) -> String {
        let name = self.name();
        match self.way {
            Way::Bearer => format!("bearer_token_file: {name}"),
            Way::Basic => format!("basic_auth: {{username: {USER}, password_file: {name}}}"),
        }
    }

    /// The names of all files and what they hold at first.
    pub(super) fn files() -> Vec<(String, String)> {
        let file = |(number, _)| {
            let name = name(number);
            let text = secret(&name, 0);
            (name, text)
        };
        WAYS.map(file).into()
    }

    /// The token, or the password, in a value of the header.
    pub(super) fn secret_in(value: &str) -> Option<String> {
        match value.split_once(' ')? {
            ("Bearer", token) => Some(token.to_owned()),
            (_, pair) => {
                let pair = String::from_utf8(STANDARD.decode(pair).ok()?).ok()?;
                Some(pair.split_once(':')?.1.to_owned())
            }
        }
    }

    /// Whether a request has what the file held when its read began. Errors: what it has instead.
    pub(super) fn check(&self, stage: &Stage, sent: &str, begins: bool) -> Result<(), String> {
        let now = Instant::now();
        let length = if begins { ON_THE_WAY } else { TIMEOUT };
        let since = now - length - stage.truth.slack(now - length, now);
        let secrets = self.secrets.lock().unwrap();
        let mut former = secrets.former.iter().filter(|(_, until)| *until >= since);
        let is_good = sent == self.value(secrets.count)
            || former.any(|(count, _)| sent == self.value(*count));
        match is_good {
            true => Ok(()),
            false => Err(format!(
                "asked as {sent:?}, which {} did not hold (it holds number {})",
                self.name(),
                secrets.count
            )),
        }
    }

    /// Writes another one when its time has come.
    pub(super) fn change(self: &Arc<Self>, stage: &Arc<Stage>, place: &Arc<Place>) {
        let mut locked = self.secrets.lock().unwrap();
        let secrets = &mut *locked;
        if secrets.is_away || Instant::now() < secrets.until || stage.quiet.is_wanted() {
            return;
        }
        secrets.until = Instant::now() + secrets.chance.ms(1000..3000);
        secrets.is_away = secrets.chance.deal(&mut secrets.gaps, &GAPS);
        if !secrets.is_away {
            return self.renew(secrets, stage);
        }
        let length = secrets.chance.ms(20..600);
        drop(locked);
        self.take_away(stage, place, length);
    }

    fn renew(&self, secrets: &mut Secrets, stage: &Stage) {
        let old = secrets.count;
        secrets.count += 1;
        stage
            .vigie
            .setup
            .write(&self.name(), self.text(secrets.count));
        secrets.former.push_back((old, Instant::now()));
        if secrets.former.len() > 20 {
            secrets.former.pop_front();
        }
        stage.tally.count("peers: url", self.words("new"));
    }

    /// There is no file for a while.
    fn take_away(self: &Arc<Self>, stage: &Arc<Stage>, place: &Arc<Place>, length: Duration) {
        let span = place.begin(Excuse::Saying(self.complaint()));
        let (login, stage, place) = (self.clone(), stage.clone(), place.clone());
        std::thread::spawn(move || {
            let file = stage.vigie.setup.path(&login.name());
            fs::remove_file(file).unwrap();
            stage.tally.count("peers: url", login.words("no"));
            stage.pause(length);
            let mut secrets = login.secrets.lock().unwrap();
            login.renew(&mut secrets, &stage);
            secrets.is_away = false;
            place.end(span);
        });
    }

    /// The value of the header.
    fn value(&self, count: u32) -> String {
        let secret = self.secret(count);
        match self.way {
            Way::Bearer => format!("Bearer {secret}"),
            Way::Basic => format!("Basic {}", STANDARD.encode(format!("{USER}:{secret}"))),
        }
    }

    fn secret(&self, count: u32) -> String {
        secret(&self.name(), count)
    }

    /// As some editors write it.
    fn text(&self, count: u32) -> String {
        let end = ["\n", "", "\r\n"][count as usize % 3];
        format!("{}{end}", self.secret(count))
    }

    fn name(&self) -> String {
        name(self.number)
    }

    /// What is said while there is no file.
    fn complaint(&self) -> &'static [&'static str] {
        match self.way {
            Way::Bearer => &[": bearer_token_file /"],
            Way::Basic => &[": password_file /"],
        }
    }

    fn words(&self, what: &str) -> String {
        let kind = match self.way {
            Way::Bearer => "token",
            Way::Basic => "password",
        };
        format!("{what} {kind}")
    }
}

fn name(number: u8) -> String {
    format!("login-{number}")
}

fn secret(name: &str, count: u32) -> String {
    format!("{SECRET}{name}-{count}")
}
