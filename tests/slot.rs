//! The memory of a service, by a clock that only the test moves and a source that only it lets answer.

use std::sync::Arc;
use std::time::Duration;

use smol::channel::{Receiver, Sender, unbounded};
use smol::{Executor, Task};
use vigie::clock::Clock;
use vigie::slot::{Given, Part, Policy, Runtime, Slot, Stale};

type Outcome = Result<&'static str, &'static str>;
type Answer = Result<Given<&'static str, &'static str>, &'static str>;

const SECOND: Duration = Duration::from_secs(1);
const NEVER: Duration = Duration::ZERO;

/// A slot, its clock, and the reads that have begun and wait for the test to end them.
struct Lab {
    executor: Arc<Executor<'static>>,
    clock: Clock,
    runtime: Runtime,
    slot: Arc<Slot<&'static str, &'static str>>,
    begin: Sender<Sender<Outcome>>,
    begun: Receiver<Sender<Outcome>>,
}

impl Lab {
    fn new(ttl: Duration, max_stale: Duration) -> Self {
        let executor = Arc::new(Executor::new());
        let (clock, spawner) = (Clock::manual(), executor.clone());
        let runtime = Runtime {
            clock: clock.clone(),
            spawn: Arc::new(move |task| spawner.spawn(task).detach()),
        };
        let (begin, begun) = unbounded();
        let slot = Arc::new(Slot::new(Policy { ttl, max_stale }));
        Self {
            executor,
            clock,
            runtime,
            slot,
            begin,
            begun,
        }
    }

    /// What follows it on a reload.
    fn next(&self, ttl: Duration, max_stale: Duration) -> Self {
        let mut next = Self::new(ttl, max_stale);
        next.clock = self.clock.clone();
        next.runtime.clock = self.clock.clone();
        next.slot = Arc::new(Slot::after(Policy { ttl, max_stale }, &self.slot));
        next
    }

    /// A request, under way from now on.
    fn ask(&self) -> Task<Answer> {
        let (slot, runtime, begin) = (self.slot.clone(), self.runtime.clone(), self.begin.clone());
        let asked = self.executor.spawn(async move {
            let read = || async move {
                let (end, ended) = unbounded();
                begin.send(end).await.expect("the test takes every read");
                ended.recv().await.expect("the test ends every read")
            };
            slot.get(&runtime, read).await
        });
        self.settle();
        asked
    }

    /// Lets everything run that does not wait for the test.
    fn settle(&self) {
        while self.executor.try_tick() {}
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.settle();
    }

    /// Ends the one read under way.
    fn end(&self, outcome: Outcome) {
        let read = self.begun.try_recv().expect("a read is under way");
        read.try_send(outcome).expect("the read waits");
        self.settle();
    }

    fn nothing_is_read(&self) {
        assert!(self.begun.is_empty(), "a read has begun");
    }

    /// The answer of a request that waits for nothing any more.
    fn answer(&self, asked: Task<Answer>) -> Answer {
        assert!(asked.is_finished(), "the request still waits");
        smol::block_on(asked)
    }

    /// A request that waits for no read.
    fn answer_now(&self) -> Answer {
        let asked = self.ask();
        self.nothing_is_read();
        self.answer(asked)
    }

    fn read(&self, list: &'static str) {
        let asked = self.ask();
        self.end(Ok(list));
        assert_eq!(self.answer(asked), given(list, Part::Began));
    }
}

/// A fresh list that was kept.
fn kept(value: &'static str, age: Duration) -> Answer {
    Ok(Given {
        value,
        age,
        part: Part::None,
        stale: None,
    })
}

/// The list of a read that has just ended.
fn given(value: &'static str, part: Part) -> Answer {
    Ok(Given {
        value,
        age: NEVER,
        part,
        stale: None,
    })
}

fn stale(
    value: &'static str,
    age: Duration,
    past_ttl: Duration,
    reason: Option<&'static str>,
) -> Answer {
    Ok(Given {
        value,
        age,
        part: Part::Began,
        stale: Some(Stale { past_ttl, reason }),
    })
}

#[test]
fn a_list_is_kept_for_its_ttl_from_the_end_of_its_read() {
    let lab = Lab::new(5 * SECOND, NEVER);
    let asked = lab.ask();
    lab.advance(3 * SECOND);
    lab.end(Ok("a"));
    assert_eq!(lab.answer(asked), given("a", Part::Began));
    lab.advance(5 * SECOND - Duration::from_nanos(1));
    assert_eq!(
        lab.answer_now(),
        kept("a", 5 * SECOND - Duration::from_nanos(1))
    );
    lab.advance(Duration::from_nanos(1));
    lab.read("b");
    assert_eq!(lab.answer_now(), kept("b", NEVER));
}

#[test]
fn with_a_ttl_of_nothing_only_a_read_under_way_is_shared() {
    let lab = Lab::new(NEVER, NEVER);
    let (first, second) = (lab.ask(), lab.ask());
    lab.end(Ok("a"));
    assert_eq!(
        (lab.answer(first), lab.answer(second)),
        (given("a", Part::Began), given("a", Part::Joined))
    );
    lab.read("b");
    lab.read("c");
}

#[test]
fn ten_thousand_requests_wait_for_one_read() {
    for outcome in [Ok("a"), Err("down")] {
        let lab = Lab::new(SECOND, NEVER);
        let asked: Vec<_> = (0..10_000).map(|_| lab.ask()).collect();
        lab.end(outcome);
        lab.nothing_is_read();
        for (index, asked) in asked.into_iter().enumerate() {
            let part = if index == 0 {
                Part::Began
            } else {
                Part::Joined
            };
            let want = outcome.and_then(|list| given(list, part));
            assert_eq!(lab.answer(asked), want);
        }
    }
}

#[test]
fn whoever_leaves_when_its_answer_is_there_keeps_it_from_nobody() {
    // Some are woken by the end of the read and have not run yet: the first ones, all but the last of them, every
    // second one, many more than are woken at once.
    let leaves: [fn(usize) -> bool; 5] = [
        |i| i < 1,
        |i| i < 16,
        |i| i < 15 || i == 16,
        |i| i % 2 == 0,
        |i| i < 900,
    ];
    for leaves in leaves {
        let lab = Lab::new(SECOND, NEVER);
        let asked: Vec<_> = (0..1_000).map(|_| lab.ask()).collect();
        let read = lab.begun.try_recv().expect("a read is under way");
        read.try_send(Ok("a")).expect("the read waits");
        assert!(lab.executor.try_tick(), "the read ends");
        assert!(lab.slot.fresh(lab.clock.now()).is_some(), "it has ended");
        let (_, staying): (Vec<_>, Vec<_>) =
            asked.into_iter().enumerate().partition(|(i, _)| leaves(*i));
        lab.settle();
        for (index, asked) in staying {
            let part = if index == 0 {
                Part::Began
            } else {
                Part::Joined
            };
            assert_eq!(lab.answer(asked), given("a", part));
        }
    }
}

#[test]
fn a_failure_is_not_kept_and_the_next_request_reads_again() {
    let lab = Lab::new(5 * SECOND, NEVER);
    lab.read("a");
    lab.advance(5 * SECOND);
    for _ in 0..3 {
        let asked = lab.ask();
        lab.end(Err("down"));
        assert_eq!(lab.answer(asked), Err("down"));
    }
    lab.read("b");
}

#[test]
fn a_read_goes_on_and_is_kept_when_everyone_has_gone_away() {
    let lab = Lab::new(5 * SECOND, NEVER);
    let (first, second) = (lab.ask(), lab.ask());
    drop(first);
    lab.settle();
    drop(second);
    lab.settle();
    lab.end(Ok("a"));
    assert_eq!(lab.answer_now(), kept("a", NEVER));
}

#[test]
fn the_first_request_may_go_away_and_the_others_have_their_answer() {
    let lab = Lab::new(5 * SECOND, NEVER);
    let (first, second) = (lab.ask(), lab.ask());
    drop(first);
    lab.settle();
    lab.end(Ok("a"));
    assert_eq!(lab.answer(second), given("a", Part::Joined));
}

#[test]
fn the_last_good_list_stands_in_for_a_failed_read_until_max_stale_is_over() {
    let lab = Lab::new(5 * SECOND, 10 * SECOND);
    lab.read("a");
    lab.advance(5 * SECOND);
    for past in [NEVER, 10 * SECOND - Duration::from_nanos(1)] {
        lab.advance(past);
        let asked = lab.ask();
        lab.end(Err("down"));
        assert_eq!(
            lab.answer(asked),
            stale("a", 5 * SECOND + past, past, Some("down"))
        );
    }
    lab.advance(Duration::from_nanos(1));
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), Err("down"));
}

#[test]
fn fresh_is_tried_first_and_a_good_read_is_never_hidden() {
    let lab = Lab::new(5 * SECOND, 10 * SECOND);
    lab.read("a");
    lab.advance(6 * SECOND);
    lab.read("b");
    assert_eq!(lab.answer_now(), kept("b", NEVER));
}

#[test]
fn while_a_list_may_stand_in_a_request_waits_a_second_and_the_read_goes_on() {
    let lab = Lab::new(5 * SECOND, 10 * SECOND);
    lab.read("a");
    lab.advance(5 * SECOND);
    let first = lab.ask();
    lab.advance(SECOND / 2);
    let second = lab.ask();
    lab.advance(SECOND / 2 - Duration::from_nanos(1));
    assert!(!first.is_finished());
    lab.advance(Duration::from_nanos(1));
    assert_eq!(lab.answer(first), stale("a", 6 * SECOND, SECOND, None));
    assert!(
        !second.is_finished(),
        "it has waited for half a second only"
    );
    lab.end(Ok("b"));
    assert_eq!(lab.answer(second), given("b", Part::Joined));
    assert_eq!(lab.answer_now(), kept("b", NEVER));
}

#[test]
fn a_list_that_may_not_stand_in_any_more_is_not_sent_after_the_second_of_waiting() {
    let lab = Lab::new(5 * SECOND, SECOND);
    lab.read("a");
    lab.advance(5 * SECOND + SECOND / 2);
    let asked = lab.ask();
    lab.advance(SECOND);
    assert!(!asked.is_finished());
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), Err("down"));
}

#[test]
fn a_list_handed_over_only_stands_in() {
    let old = Lab::new(5 * SECOND, 10 * SECOND);
    old.read("a");
    let lab = old.next(5 * SECOND, 10 * SECOND);
    lab.advance(SECOND);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("a", SECOND, NEVER, Some("down")));
    lab.read("b");
    assert_eq!(lab.answer_now(), kept("b", NEVER));
}

#[test]
fn what_a_read_from_before_a_reload_gives_after_it_may_stand_in_and_is_not_fresh() {
    let old = Lab::new(5 * SECOND, 10 * SECOND);
    old.read("a");
    old.advance(5 * SECOND);
    let before = old.ask();
    let lab = old
        .next(5 * SECOND, 10 * SECOND)
        .next(5 * SECOND, 10 * SECOND);
    old.end(Ok("b"));
    assert_eq!(old.answer(before), given("b", Part::Began));
    lab.advance(SECOND);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("b", SECOND, NEVER, Some("down")));
}

#[test]
fn a_read_that_began_before_another_does_not_take_the_place_of_its_list() {
    for late in [Ok("b"), Err("down")] {
        let old = Lab::new(SECOND, 10 * SECOND);
        let before = old.ask();
        old.advance(SECOND);
        let lab = old.next(SECOND, 10 * SECOND);
        lab.read("c");
        old.end(late);
        assert!(before.is_finished());
        lab.advance(SECOND);
        let asked = lab.ask();
        lab.end(Err("down"));
        assert_eq!(lab.answer(asked), stale("c", SECOND, NEVER, Some("down")));
    }
}

#[test]
fn however_many_reloads_there_are_two_reads_are_under_way_at_once() {
    let first = Lab::new(SECOND, NEVER);
    let of_first = first.ask();
    let second = first.next(SECOND, NEVER);
    let of_second = second.ask();
    let last = second.next(SECOND, NEVER).next(SECOND, NEVER);
    let joined = last.ask();
    last.nothing_is_read();
    second.end(Ok("b"));
    assert_eq!(second.answer(of_second), given("b", Part::Began));
    last.settle();
    assert_eq!(last.answer(joined), given("b", Part::Joined));
    // It is kept where it was read alone.
    last.read("c");
    first.end(Ok("a"));
    assert_eq!(first.answer(of_first), given("a", Part::Began));
    assert_eq!(last.answer_now(), kept("c", NEVER));
}

#[test]
fn a_policy_that_lets_nothing_stand_in_takes_nothing_over() {
    let old = Lab::new(5 * SECOND, 10 * SECOND);
    old.read("a");
    let lab = old.next(5 * SECOND, NEVER);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), Err("down"));
    // Nor does it lend what it has forgotten.
    let lab = lab.next(5 * SECOND, 10 * SECOND);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), Err("down"));
}

#[test]
fn a_list_kept_while_nothing_could_stand_in_is_handed_over_all_the_same() {
    let old = Lab::new(5 * SECOND, NEVER);
    old.read("a");
    let lab = old.next(5 * SECOND, 10 * SECOND);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("a", NEVER, NEVER, Some("down")));
}

#[test]
fn a_list_that_is_read_before_a_reload_while_it_is_prepared_is_handed_over_too() {
    let old = Lab::new(SECOND, NEVER);
    old.read("a");
    let lab = old.next(SECOND, 10 * SECOND);
    old.advance(SECOND);
    old.read("b");
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("b", NEVER, NEVER, Some("down")));
}

#[test]
fn a_reload_that_is_prepared_late_and_not_done_takes_no_list_from_the_one_that_is() {
    let old = Lab::new(SECOND, NEVER);
    let before = old.ask();
    let lab = old.next(SECOND, 10 * SECOND);
    let late = old.next(SECOND, 10 * SECOND);
    old.end(Ok("a"));
    assert_eq!(old.answer(before), given("a", Part::Began));
    drop(late);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("a", NEVER, NEVER, Some("down")));
}

#[test]
fn a_read_from_before_a_reload_that_fails_after_it_takes_no_list_away() {
    let old = Lab::new(SECOND, NEVER);
    old.read("a");
    old.advance(SECOND);
    let before = old.ask();
    let lab = old.next(SECOND, 10 * SECOND);
    old.end(Err("down"));
    assert_eq!(old.answer(before), Err("down"));
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), stale("a", SECOND, NEVER, Some("down")));
}

#[test]
fn a_list_that_could_never_be_served_again_is_not_kept() {
    let old = Lab::new(NEVER, NEVER);
    old.read("a");
    let lab = old.next(5 * SECOND, 10 * SECOND);
    let asked = lab.ask();
    lab.end(Err("down"));
    assert_eq!(lab.answer(asked), Err("down"));
}
