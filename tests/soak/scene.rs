//! Which peers there are, which services are read from them, and what files these need.

use crate::chance::Chance;
use crate::places::dns::{Carrier, Family, Servers, Type, Wanted};
use crate::places::file::Writer;
use crate::places::{Later, Renewal, dns, file, kubernetes, url};
use crate::services::{Living, Services};
use crate::support::Hanging;

/// The service that moves from one kind of source to another.
pub(crate) const MOVES: &str = "moves";

/// What stands before the server does.
pub(crate) struct SetUp {
    pub(crate) services: Services,
    pub(crate) writers: Vec<Writer>,
    pub(crate) files: Vec<(String, String)>,
    /// What resolv.conf is to be.
    pub(crate) resolv_conf: Option<String>,
    pub(crate) renewals: Vec<Renewal>,
}

/// The peers, the services that are read from them, and the files that these need.
pub(crate) fn set_up(later: &Later, seed: u64) -> SetUp {
    let plain = |number| url::start(later, seed, number);
    let (over_tls, certificate, authorities) = url::start_tls(later, seed, 4);
    let name = |number, wanted| dns::start(later, seed, number, wanted);
    let of = Wanted::of;
    let (cluster, cluster_certificate, kubeconfig) = kubernetes::start(later, seed);
    let [named, numbered, only, only_of_ipv4] = cluster
        .try_into()
        .unwrap_or_else(|_| panic!("it has four services"));
    let mut writers = Vec::new();
    let mut written = |number, mount| {
        let (kept, writer) = file::new(seed, number, mount);
        writers.push(writer);
        kept
    };
    let mut living = vec![
        Living::new("url-a", vec![plain(1), plain(2)], &[0]),
        Living::new("url-b", vec![plain(3), plain(7)], &[2000, 4000]),
        Living::new("url-tls", vec![over_tls], &[0, 3000]),
        Living::new("dns-a", vec![name(10, of(Type::A))], &[0, 2000]),
        Living::new(
            "dns-tcp",
            vec![name(11, of(Type::A).carrier(Carrier::Tcp))],
            &[2000],
        ),
        Living::new(
            "dns-ipv4",
            vec![name(
                18,
                of(Type::A)
                    .family(Family::Ipv4)
                    .servers(Servers::SecondAlone),
            )],
            &[0, 3000],
        ),
        Living::new(
            "dns-two",
            vec![name(17, of(Type::A).servers(Servers::Two))],
            &[0],
        ),
        Living::new(
            "dns-srv",
            vec![name(12, of(Type::Srv)), name(19, of(Type::Srv))],
            &[0, 3000],
        ),
        Living::new(
            "dns-srv-too",
            vec![name(
                15,
                of(Type::Srv).family(Family::Ipv6).servers(Servers::Two),
            )],
            &[0],
        ),
        Living::new("dns-txt", vec![name(13, of(Type::Txt))], &[0]),
        Living::new("kubernetes-a", vec![named], &[0, 2000]),
        Living::new("kubernetes-b", vec![numbered], &[2000, 4000]),
        Living::new("kubernetes-c", vec![only], &[0]),
        Living::new("kubernetes-d", vec![only_of_ipv4], &[0]),
        Living::new("file-a", vec![written(30, None), written(31, None)], &[0]),
        Living::new(
            "file-b",
            vec![written(32, None), written(35, None)],
            &[2000],
        ),
        Living::new("behind-url", vec![plain(6)], &[0]),
        Living::new(
            "behind-dns",
            vec![name(16, of(Type::Txt).family(Family::Ipv6))],
            &[0, 2000],
        ),
        Living::new(
            MOVES,
            vec![
                plain(5),
                name(14, of(Type::A).carrier(Carrier::Consul)),
                written(33, None),
            ],
            &[0, 2000],
        ),
    ];
    if let Some(mount) = Hanging::mount(
        "a soak with a file system that hangs",
        "list.txt",
        "10.0.0.1\n",
    ) {
        living.push(Living::new(
            "file-hangs",
            vec![written(34, Some(mount))],
            &[0, 2000],
        ));
    }
    let mut files = url::logins();
    let resolv_conf =
        dns::start_with_search(later, seed, 24).map(|([searched, empty], resolv_conf)| {
            living.push(Living::new("dns-searched", vec![searched], &[0, 2000]));
            living.push(Living::new("dns-empty", vec![empty], &[0, 2000]));
            resolv_conf
        });
    files.push(("ca.pem".into(), authorities));
    files.push(("kube.yml".into(), kubeconfig));
    SetUp {
        services: Services::new(living, Chance::of(seed, "services")),
        writers,
        files,
        resolv_conf,
        renewals: vec![certificate, cluster_certificate],
    }
}
