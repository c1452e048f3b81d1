//! The bus that traces are played to and recorded from: the arguments for that.

use wiregauge_bus::run_settings::transport_option::{parse_transport_option, TransportOption};
use wiregauge_trace_stream::stream_end::StreamTransport;

/// Over what messages go.
#[derive(clap::Args)]
pub struct TransportArgs {
    /// Use this transport of the bus: 'wiregauge bus transports' lists them.
    #[arg(long, value_name = "TRANSPORT")]
    over: Option<String>,
    /// Topic by which player and recorder find each other [default: wiregauge_trace].
    #[arg(long = "topic", value_name = "NAME", requires = "over")]
    name: Option<String>,
    /// Set an option of the transport, such as dds.domain=7 or tcp.port=7401.
    #[arg(long, value_name = "TRANSPORT.NAME=VALUE", requires = "over", value_parser = parse_transport_option)]
    option: Vec<TransportOption>,
}

impl TransportArgs {
    /// The transport; none where the user names none.
    pub fn transport(&self) -> Option<StreamTransport> {
        let id = self.over.clone()?;
        Some(StreamTransport { id, topic: self.name.clone(), options: self.option.clone() })
    }
}
