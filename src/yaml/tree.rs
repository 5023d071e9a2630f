//! Parser events -> tree, within budgets of nodes, depth and text that aliases count against too.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::SocketAddrV6;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError};

use super::diagnostic::Position;
use super::node::{Anchored, Entry, Key, Node, Value};
use super::read::Reader;

/// The most values a text may have, those that aliases repeat counted each time.
const MOST_NODES: usize = 1_000_000;
/// The most collections that may stand in one another, those that aliases repeat included.
const DEEPEST: usize = 64;
/// The most bytes of text that aliases may repeat, together: as many as a configuration has.
const MOST_REPEATED: usize = 16 << 20;

/// Reads a text of one YAML document; an empty one is [`Value::Null`].
///
/// The first error that breaks the syntax or a budget ends the reading and gives `None`. Tags, keys
/// that are no text and aliases without an anchor are noted, and what is around them is read on.
pub fn parse(text: &str, reader: &mut Reader<'_>) -> Option<Node> {
    let mut builder = Builder::new(reader);
    let outcome = Parser::new_from_str_with_options(text, options()).try_for_each(|event| {
        let (event, span) = event.map_err(|error| syntax(text, &error))?;
        builder.take(event, Position::from(&span.start))
    });
    let root = builder.root.take();
    match outcome {
        Ok(()) => Some(root.unwrap_or(Node::new(Position::START, Value::Null))),
        Err(Broken(position, message)) => {
            reader.error(position, message);
            None
        }
    }
}

/// What ends the reading, and where.
struct Broken(Position, String);

fn options() -> Options {
    granit_parser::options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    }
}

fn syntax(text: &str, error: &ScanError) -> Broken {
    let position = Position::from(error.marker());
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        return too_deep(position);
    }
    if is_about_tab(error.kind()) {
        return indented_by_tab(text, position);
    }
    let line = text.lines().nth(position.line as usize - 1);
    let right = match line.is_some_and(holds_bracketed_address) {
        true => "; put an address that begins with [ in quotes",
        false => "",
    };
    let message = format!("this is not YAML: {}{right}", error.info());
    Broken(position, message)
}

fn is_about_tab(kind: &ErrorKind) -> bool {
    use ErrorKind::*;
    matches!(
        kind,
        TabNotAllowed
            | TabInBlockIndentation
            | TabAtBlockScalarStart
            | TabInIndentation
            | TabInPlainScalar
    )
}

/// `position` may be before the line of the tab.
fn indented_by_tab(text: &str, mut position: Position) -> Broken {
    let is_indented =
        |line: &str| line.trim_start_matches(' ').starts_with('\t') && !line.trim().is_empty();
    let mut lines = (position.line..).zip(text.lines().skip(position.line as usize - 1));
    if let Some((line, indented)) = lines.find(|(_, line)| is_indented(line)) {
        position = Position::of(indented.as_bytes(), indented.find('\t').unwrap_or_default());
        position.line = line;
    }
    let message = "this is not YAML: a tab is no indentation: indent with blanks, not with tabs";
    Broken(position, message.into())
}

/// Whether the value of a line is an address as `[::1]:8080`, which YAML takes for a list and more.
fn holds_bracketed_address(line: &str) -> bool {
    let (before, value) = line.split_at(line.find('[').unwrap_or(line.len()));
    let begins = before.trim_end().ends_with([':', '-']) && before.ends_with(' ');
    let address = value.split([' ', ',', '}']).next();
    begins && address.is_some_and(|address| address.parse::<SocketAddrV6>().is_ok())
}

fn too_deep(position: Position) -> Broken {
    Broken(
        position,
        format!("nested too deeply: at most {DEEPEST} levels are read"),
    )
}

fn too_many(position: Position) -> Broken {
    let which = "those that aliases repeat included";
    Broken(
        position,
        format!("too many values: at most {MOST_NODES} are read, {which}"),
    )
}

fn too_long(position: Position) -> Broken {
    let most = MOST_REPEATED >> 20;
    let message = format!("too much text: aliases may repeat {most} MiB of it at most");
    Broken(position, message)
}

/// How much a node holds, aliases followed.
#[derive(Clone, Copy)]
struct Extent {
    nodes: usize,
    height: usize,
    bytes: usize,
}

impl Extent {
    /// That of a text of so many bytes.
    fn leaf(bytes: usize) -> Self {
        Self {
            nodes: 1,
            height: 0,
            bytes,
        }
    }
}

/// A collection whose end has not been seen.
struct Open {
    position: Position,
    anchor: usize,
    /// Of what stands in it.
    anchored: Anchored,
    extent: Extent,
    items: Items,
}

enum Items {
    Sequence(Vec<Node>),
    /// The key whose value comes next; `Some(None)` when it cannot be one, and its value is dropped.
    Mapping(Vec<Entry>, Option<Option<Key>>),
}

struct Builder<'r, 'f> {
    open: Vec<Open>,
    /// Anchored nodes that are complete, by the number the parser gives them.
    anchors: HashMap<usize, (Node, Extent)>,
    root: Option<Node>,
    nodes: usize,
    /// Bytes of text that aliases have repeated.
    repeated: usize,
    reader: &'r mut Reader<'f>,
}

impl<'r, 'f> Builder<'r, 'f> {
    fn new(reader: &'r mut Reader<'f>) -> Self {
        Self {
            open: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            nodes: 0,
            repeated: 0,
            reader,
        }
    }

    /// Takes the next event; an error ends the reading.
    fn take(&mut self, event: Event<'_>, position: Position) -> Result<(), Broken> {
        if event.tag().is_some() {
            // Its own text is not shown: it may be a password that begins with `!`.
            let message = "a YAML tag has no meaning here: remove it, or put text that begins with ! in quotes";
            self.reader.error(position, message);
        }
        match event {
            Event::DocumentStart(..) => self.begin_document(position),
            Event::Scalar(text, style, anchor, _) => {
                let extent = Extent::leaf(text.len());
                self.complete(Node::new(position, scalar(text, style)), extent, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(Items::Sequence(Vec::new()), position, anchor)
            }
            Event::MappingStart(_, anchor, _) => {
                self.begin(Items::Mapping(Vec::new(), None), position, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.repeat(anchor, position),
            Event::UnresolvedAlias(_) => self.repeat(0, position),
            _ => Ok(()),
        }
    }

    fn begin_document(&mut self, position: Position) -> Result<(), Broken> {
        let message =
            "a second document begins here: a file holds one, remove this line and what follows it";
        match self.root {
            None => Ok(()),
            Some(_) => Err(Broken(position, message.into())),
        }
    }

    fn begin(&mut self, items: Items, position: Position, anchor: usize) -> Result<(), Broken> {
        let around = self.open.last().map_or(Anchored::No, |open| open.anchored);
        let anchored = match anchor {
            0 => around,
            _ => Anchored::Within,
        };
        self.open.push(Open {
            position,
            anchor,
            anchored,
            extent: Extent::leaf(0),
            items,
        });
        match self.open.len() > DEEPEST {
            true => Err(too_deep(position)),
            false => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), Broken> {
        let Some(Open {
            position,
            anchor,
            extent,
            items,
            ..
        }) = self.open.pop()
        else {
            return Ok(());
        };
        let value = match items {
            Items::Sequence(nodes) => Value::Sequence(nodes.into()),
            Items::Mapping(entries, _) => Value::Mapping(entries.into()),
        };
        self.complete(Node::new(position, value), extent, anchor)
    }

    fn repeat(&mut self, anchor: usize, position: Position) -> Result<(), Broken> {
        let Some((mut node, extent)) = self.anchors.get(&anchor).cloned() else {
            // Its own text is not shown: it may be a password that begins with `*`.
            let message = "an alias of nothing before it: write its anchor (&) first, or put text that begins with * in quotes";
            self.reader.error(position, message);
            return self.complete(Node::new(position, Value::Broken), Extent::leaf(0), 0);
        };
        if extent.height == 0 {
            // What is wrong with a text is wrong here; the parts of a collection stand where they were written.
            node.position = position;
        }
        self.nodes += extent.nodes;
        self.repeated += extent.bytes;
        match self.repeated > MOST_REPEATED {
            true => Err(too_long(position)),
            false => self.complete(node, extent, 0),
        }
    }

    /// Hands a whole node to the collection that it stands in.
    fn complete(&mut self, mut node: Node, extent: Extent, anchor: usize) -> Result<(), Broken> {
        let position = node.position;
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(too_many(position));
        }
        if anchor != 0 {
            node.anchored = Anchored::Itself;
            self.anchors.insert(anchor, (node.clone(), extent));
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.extent.nodes += extent.nodes;
        parent.extent.height = parent.extent.height.max(extent.height + 1);
        parent.extent.bytes += extent.bytes;
        node.anchored = node.anchored.max(parent.anchored);
        parent.items.push(node, self.reader);
        match parent.extent.height > DEEPEST {
            true => Err(too_deep(position)),
            false => Ok(()),
        }
    }
}

impl Items {
    fn push(&mut self, node: Node, reader: &mut Reader<'_>) {
        match self {
            Self::Sequence(nodes) => nodes.push(node),
            Self::Mapping(entries, key) => match key.take() {
                Some(Some(key)) => entries.push(Entry { key, node }),
                Some(None) => {}
                None => *key = Some(as_key(node, reader)),
            },
        }
    }
}

fn as_key(node: Node, reader: &mut Reader<'_>) -> Option<Key> {
    let (position, anchored) = (node.position, node.anchored);
    match node.value {
        Value::Plain(text) | Value::Quoted(text) => Some(Key {
            position,
            text,
            anchored,
        }),
        Value::Null => {
            let message = "this key is nothing to YAML: write text before the colon, and put a name such as null or ~ in quotes";
            reader.error(position, message);
            None
        }
        Value::Broken => None,
        Value::Sequence(_) | Value::Mapping(_) => {
            reader.error(
                position,
                format!(
                    "{} cannot be a key: write text before the colon",
                    node.kind()
                ),
            );
            None
        }
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    match style {
        ScalarStyle::Plain if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        ScalarStyle::Plain => Value::Plain(text.into()),
        _ => Value::Quoted(text.into()),
    }
}
