//! What is in recordings, as a page.

use wiregauge_report::page::facts_page::{self, FactsHistogram, FactsSection};
use wiregauge_system::text::escape_short;
use wiregauge_trace::info::text::{channel_facts, channel_name, file_facts, file_title};
use wiregauge_trace::info::{ChannelInfo, TraceInfo};

/// The files as a page, with the sizes of their messages as pictures.
pub fn render_info(infos: &[TraceInfo]) -> String {
    let mut parts = Vec::new();
    for info in infos {
        let remarks = info.remarks.iter().map(|remark| ("note", escape_short(remark)));
        let facts = file_facts(info).into_iter().chain(remarks);
        let facts = facts.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect();
        parts.push(FactsSection { title: file_title(info), facts, histogram: None });
        parts.extend(info.channels.iter().map(channel_section));
    }
    let names: Vec<&str> = infos.iter().map(|info| info.file.as_str()).collect();
    facts_page::render_facts(&names.join(", "), &parts)
}

fn channel_section(channel: &ChannelInfo) -> FactsSection {
    // The bars of a terminal have no name.
    let facts = channel_facts(channel).into_iter().filter(|(key, _)| !key.is_empty());
    let facts = facts.map(|(key, value)| (key.to_owned(), value)).collect();
    let histogram = channel.read.as_ref().filter(|read| !read.sizes.is_empty());
    let histogram = histogram.map(|read| FactsHistogram {
        what: "Sizes of messages".into(),
        unit: "B".into(),
        span: (read.smallest, read.largest),
        counts: read.sizes.clone(),
    });
    FactsSection { title: channel_name(channel).to_owned(), facts, histogram }
}
