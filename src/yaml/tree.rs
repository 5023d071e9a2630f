//! Parser events -> tree, within budgets of nodes and depth that aliases count against too.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::diagnostic::{Diagnostic, Position};
use super::node::{Entry, Key, Node, Value};

/// The most values a text may have, those that aliases repeat counted each time.
const MOST_NODES: usize = 1_000_000;
/// The most collections that may stand in one another, those that aliases repeat included.
const DEEPEST: usize = 64;

/// Reads a text of one YAML document; an empty one is [`Value::Null`].
///
/// Errors are those of YAML itself: the first that breaks its syntax or a budget ends the reading,
/// tags, keys that are no text and aliases without an anchor are collected.
pub fn parse(text: &str) -> Result<Node, Vec<Diagnostic>> {
    let mut builder = Builder::default();
    let outcome = Parser::new_from_str_with_options(text, options()).try_for_each(|event| {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        builder.take(event, Position::from(&span.start))
    });
    builder.errors.extend(outcome.err());
    match builder.errors.is_empty() {
        true => Ok(builder.root.unwrap_or(Node {
            position: Position::START,
            value: Value::Null,
        })),
        false => Err(builder.errors),
    }
}

fn options() -> Options {
    granit_parser::options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    }
}

fn syntax(error: &ScanError) -> Diagnostic {
    let position = Position::from(error.marker());
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(position),
        _ => Diagnostic::at(position, format!("this is not YAML: {}", error.info())),
    }
}

fn too_deep(position: Position) -> Diagnostic {
    Diagnostic::at(
        position,
        format!("nested too deeply: at most {DEEPEST} levels are read"),
    )
}

/// How much a node holds, aliases followed.
#[derive(Clone, Copy)]
struct Extent {
    nodes: usize,
    height: usize,
}

const LEAF: Extent = Extent {
    nodes: 1,
    height: 0,
};

/// A collection whose end has not been seen.
struct Open {
    position: Position,
    anchor: usize,
    extent: Extent,
    items: Items,
}

enum Items {
    Sequence(Vec<Node>),
    /// The key whose value comes next; `Some(None)` when it cannot be one, and its value is dropped.
    Mapping(Vec<Entry>, Option<Option<Key>>),
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    /// Anchored nodes that are complete, by the number the parser gives them.
    anchors: HashMap<usize, (Node, Extent)>,
    root: Option<Node>,
    nodes: usize,
    errors: Vec<Diagnostic>,
}

impl Builder {
    /// Takes the next event; an error ends the reading.
    fn take(&mut self, event: Event<'_>, position: Position) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(..) => self.begin_document(position),
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), position);
                self.complete(
                    Node {
                        position,
                        value: scalar(text, style),
                    },
                    LEAF,
                    anchor,
                )
            }
            Event::SequenceStart(_, anchor, tag) => self.begin(
                Items::Sequence(Vec::new()),
                position,
                anchor,
                tag.as_deref(),
            ),
            Event::MappingStart(_, anchor, tag) => self.begin(
                Items::Mapping(Vec::new(), None),
                position,
                anchor,
                tag.as_deref(),
            ),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.repeat(anchor, position),
            Event::UnresolvedAlias(_) => self.repeat(0, position),
            _ => Ok(()),
        }
    }

    fn begin_document(&mut self, position: Position) -> Result<(), Diagnostic> {
        match self.root {
            None => Ok(()),
            Some(_) => Err(Diagnostic::at(
                position,
                "a second document begins here: a file holds one, remove this line and what follows it",
            )),
        }
    }

    /// A tag's own text is not shown: it may be a password that begins with `!`.
    fn refuse_tag(&mut self, tag: Option<&Tag>, position: Position) {
        if tag.is_some() {
            let message = "a YAML tag has no meaning here: remove it, or put text that begins with ! in quotes";
            self.errors.push(Diagnostic::at(position, message));
        }
    }

    fn begin(
        &mut self,
        items: Items,
        position: Position,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Diagnostic> {
        self.refuse_tag(tag, position);
        self.open.push(Open {
            position,
            anchor,
            extent: LEAF,
            items,
        });
        match self.open.len() > DEEPEST {
            true => Err(too_deep(position)),
            false => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(Open {
            position,
            anchor,
            extent,
            items,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let value = match items {
            Items::Sequence(nodes) => Value::Sequence(nodes.into()),
            Items::Mapping(entries, _) => Value::Mapping(entries.into()),
        };
        self.complete(Node { position, value }, extent, anchor)
    }

    /// An alias's own text is not shown: it may be a password that begins with `*`.
    fn repeat(&mut self, anchor: usize, position: Position) -> Result<(), Diagnostic> {
        let Some((node, extent)) = self.anchors.get(&anchor).cloned() else {
            let message = "an alias of nothing before it: write its anchor (&) first, or put text that begins with * in quotes";
            self.errors.push(Diagnostic::at(position, message));
            return self.complete(
                Node {
                    position,
                    value: Value::Null,
                },
                LEAF,
                0,
            );
        };
        self.nodes += extent.nodes;
        self.complete(node, extent, 0)
    }

    /// Hands a whole node to the collection that it stands in.
    fn complete(&mut self, node: Node, extent: Extent, anchor: usize) -> Result<(), Diagnostic> {
        let position = node.position;
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(Diagnostic::at(
                position,
                format!(
                    "too many values: at most {MOST_NODES} are read, those that aliases repeat included"
                ),
            ));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), extent));
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.extent.nodes += extent.nodes;
        parent.extent.height = parent.extent.height.max(extent.height + 1);
        self.errors.extend(parent.items.push(node).err());
        match parent.extent.height > DEEPEST {
            true => Err(too_deep(position)),
            false => Ok(()),
        }
    }
}

impl Items {
    fn push(&mut self, node: Node) -> Result<(), Diagnostic> {
        match self {
            Self::Sequence(nodes) => nodes.push(node),
            Self::Mapping(entries, key) => match key.take() {
                Some(Some(key)) => entries.push(Entry { key, node }),
                Some(None) => {}
                None => {
                    let (found, outcome) = as_key(node);
                    *key = Some(found);
                    return outcome;
                }
            },
        }
        Ok(())
    }
}

fn as_key(node: Node) -> (Option<Key>, Result<(), Diagnostic>) {
    let position = node.position;
    match node.value {
        Value::Plain(text) | Value::Quoted(text) => (Some(Key { position, text }), Ok(())),
        Value::Null => (
            Some(Key {
                position,
                text: "".into(),
            }),
            Ok(()),
        ),
        Value::Sequence(_) | Value::Mapping(_) => (
            None,
            Err(Diagnostic::at(
                position,
                format!(
                    "{} cannot be a key: write text before the colon",
                    node.kind()
                ),
            )),
        ),
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    match style {
        ScalarStyle::Plain if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        ScalarStyle::Plain => Value::Plain(text.into()),
        _ => Value::Quoted(text.into()),
    }
}
