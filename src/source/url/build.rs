//! What is made of the settings once: the authorities to trust and the client certificate.

use super::{Tls, file};
use crate::client::{self, Identity, Trust, Trusted, WrongIdentity};
use crate::yaml::Diagnostic;

/// A bundle of all authorities of a system has about a quarter of this.
const LARGEST: u64 = 1 << 20;

/// Reads the files. Errors: every one that cannot be read or used, at its place in the configuration.
pub(super) fn tls(settings: &Tls, trusted: &mut Trusted) -> Result<client::Tls, Vec<Diagnostic>> {
    let trust = trust(settings, trusted);
    let identity = identity(settings);
    match (trust, identity) {
        (Ok(trust), Ok(identity)) => Ok(client::Tls::new(
            trust,
            identity,
            settings.server_name.clone(),
        )),
        (trust, identity) => {
            let errors = [trust.err(), identity.err()].into_iter().flatten();
            Err(errors.flatten().collect())
        }
    }
}

fn trust(settings: &Tls, trusted: &mut Trusted) -> Result<Trust, Vec<Diagnostic>> {
    let trust = match &settings.ca_file {
        None => Trust::System(trusted.system()),
        Some(named) => {
            let read = file::read("ca_file", &named.value, LARGEST).and_then(|pem| {
                let trust = trusted.pem(pem);
                trust.map_err(|wrong| file::about("ca_file", &named.value, &wrong))
            });
            read.map_err(|message| vec![Diagnostic::at(named.position, message)])?
        }
    };
    Ok(match settings.insecure_skip_verify {
        true => Trust::Anyone,
        false => trust,
    })
}

fn identity(settings: &Tls) -> Result<Option<Identity>, Vec<Diagnostic>> {
    let Some((certificate, key)) = &settings.identity else {
        return Ok(None);
    };
    let about_certificate = |message| Diagnostic::at(certificate.position, message);
    let about_key = |message| Diagnostic::at(key.position, message);
    let chain = file::read("cert_file", &certificate.value, LARGEST).map_err(about_certificate);
    let secret = file::read("key_file", &key.value, LARGEST).map_err(about_key);
    let (chain, secret) = match (chain, secret) {
        (Ok(chain), Ok(secret)) => (chain, secret),
        (chain, secret) => return Err([chain.err(), secret.err()].into_iter().flatten().collect()),
    };
    let identity = Identity::pem(&chain, &secret).map_err(|wrong| match wrong {
        WrongIdentity::Certificate(wrong) => {
            about_certificate(file::about("cert_file", &certificate.value, &wrong))
        }
        WrongIdentity::Key(wrong) => about_key(file::about("key_file", &key.value, &wrong)),
    });
    identity.map(Some).map_err(|error| vec![error])
}
