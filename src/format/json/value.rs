//! Values of the JSON list: those that matter, and those that mean nothing here.

use miniserde::de::{Map, Seq, Visitor};
use miniserde::{Error, Result};

use super::DEEPEST;
use crate::endpoint::Address;
use crate::wording::quote;

/// Takes scalars that mean nothing. Whoever needs another type finds none in its place.
macro_rules! take {
    (null; $($name:ident: $type:ty),*) => {
        fn null(&mut self) -> Result<()> {
            Ok(())
        }

        take!($($name: $type),*);
    };
    ($($name:ident: $type:ty),*) => {
        $(fn $name(&mut self, _: $type) -> Result<()> {
            Ok(())
        })*
    };
}
pub(super) use take;

/// The value of a field that matters, and how often it came.
#[derive(Default)]
pub(super) struct Value {
    pub(super) times: usize,
    scalar: Scalar,
    other: Ignored,
}

#[derive(Default)]
enum Scalar {
    Number(u64),
    Address(Option<Address>, Option<String>),
    #[default]
    Other,
}

impl Value {
    fn once(&self, name: &str) -> std::result::Result<(), String> {
        match self.times {
            0 => Err(format!("it has no {name}")),
            1 => Ok(()),
            _ => Err(format!("it has {name} more than once")),
        }
    }

    pub(super) fn number(
        &self,
        name: &str,
        least: u64,
        most: u64,
    ) -> std::result::Result<u64, String> {
        self.once(name)?;
        match self.scalar {
            Scalar::Number(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(format!("its {name} is not a number from {least} to {most}")),
        }
    }

    pub(super) fn address(&mut self) -> std::result::Result<Address, String> {
        self.once("ip")?;
        match std::mem::take(&mut self.scalar) {
            Scalar::Address(Some(address), _) => Ok(address),
            Scalar::Address(None, Some(shown)) => Err(format!(
                "its ip is not an IP address and not a host name: {shown}"
            )),
            _ => Err("its ip is not text".into()),
        }
    }
}

impl Visitor for Value {
    take! {null; boolean: bool, negative: i64, float: f64}

    fn string(&mut self, text: &str) -> Result<()> {
        let address = Address::parse(text);
        let shown = address.is_none().then(|| quote(text));
        self.scalar = Scalar::Address(address, shown);
        Ok(())
    }

    fn nonnegative(&mut self, number: u64) -> Result<()> {
        self.scalar = Scalar::Number(number);
        Ok(())
    }

    fn seq(&mut self) -> Result<Box<dyn Seq + '_>> {
        self.other.seq()
    }

    fn map(&mut self) -> Result<Box<dyn Map + '_>> {
        self.other.map()
    }
}

/// A value that means nothing here; how deep it is nested is bounded, for each level takes memory.
#[derive(Default)]
pub(super) struct Ignored {
    depth: usize,
}

impl Ignored {
    fn enter(&mut self) -> Result<Box<Within<'_>>> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => Err(Error),
            false => Ok(Box::new(Within(self))),
        }
    }
}

impl Visitor for Ignored {
    take! {null; boolean: bool, string: &str, negative: i64, nonnegative: u64, float: f64}

    fn seq(&mut self) -> Result<Box<dyn Seq + '_>> {
        Ok(self.enter()?)
    }

    fn map(&mut self) -> Result<Box<dyn Map + '_>> {
        Ok(self.enter()?)
    }
}

struct Within<'a>(&'a mut Ignored);

impl Seq for Within<'_> {
    fn element(&mut self) -> Result<&mut dyn Visitor> {
        Ok(self.0)
    }

    fn finish(&mut self) -> Result<()> {
        self.0.depth -= 1;
        Ok(())
    }
}

impl Map for Within<'_> {
    fn key(&mut self, _: &str) -> Result<&mut dyn Visitor> {
        Ok(self.0)
    }

    fn finish(&mut self) -> Result<()> {
        self.0.depth -= 1;
        Ok(())
    }
}
