//! One page of a list, as the API server writes it.

use super::Gathered;
use super::draft::{Draft, LONGEST_NAME, family};
use crate::endpoint::MOST;
use crate::json::{Json, Read};
use crate::wording::shorten;

const KEYS_OF_A_SLICE: [&str; 4] = ["metadata", "addressType", "endpoints", "ports"];
const KIND: &str = "EndpointSliceList";

impl Gathered {
    /// Takes the slices of one page, and gives what to ask the next one with, if there is more.
    ///
    /// Errors: it is no list of slices, or a part of it makes no sense. Then there is no list at all.
    pub fn take(&mut self, text: &str) -> Read<Option<Box<str>>> {
        let (mut more, mut has_items) = (None, false);
        let mut json = Json::new(text);
        json.fields(&["kind", "metadata", "items"], |json, key| match key {
            "kind" => kind(json),
            "metadata" => {
                more = json.or_null(next)?.flatten();
                Ok(())
            }
            _ => {
                has_items = true;
                let items = json.or_null(|json| json.array(|json| self.slice(json)));
                items.map(|_| ())
            }
        })?;
        match has_items {
            true => json.end().map(|()| more),
            false => Err(json.bad("it has no items, so it is no list")),
        }
    }

    fn slice(&mut self, json: &mut Json<'_>) -> Read<()> {
        let mut draft = Draft::default();
        json.fields(&KEYS_OF_A_SLICE, |json, key| match key {
            "metadata" => json.or_null(|json| draft.metadata(json)).map(|_| ()),
            "addressType" => {
                draft.family = Some(family(json)?);
                Ok(())
            }
            "endpoints" => {
                let endpoint = |json: &mut Json<'_>| {
                    draft.endpoint(json)?;
                    match self.is_too_much(draft.ready()) {
                        true => Err(json.bad(format!(
                            "more than {MOST} endpoints are ready; split the Service"
                        ))),
                        false => Ok(()),
                    }
                };
                json.or_null(|json| json.array(endpoint)).map(|_| ())
            }
            _ => {
                let ports = json.or_null(|json| json.array(|json| draft.port(json)));
                ports.map(|_| ())
            }
        })?;
        let checked = draft.check(self.wanted.family);
        if let Some(slice) = checked.map_err(|reason| json.bad(reason))? {
            self.add(slice);
        }
        Ok(())
    }
}

fn kind(json: &mut Json<'_>) -> Read<()> {
    match json.text()? {
        kind if kind == KIND => Ok(()),
        kind => {
            let reason = format!("it is a {}, not a {KIND}", shorten(&kind, LONGEST_NAME));
            Err(json.bad(reason))
        }
    }
}

fn next(json: &mut Json<'_>) -> Read<Option<Box<str>>> {
    let mut next = None;
    json.fields(&["continue"], |json, _| {
        next = json.or_null(Json::text)?.filter(|token| !token.is_empty());
        Ok(())
    })?;
    Ok(next.map(|token| Box::from(&*token)))
}
