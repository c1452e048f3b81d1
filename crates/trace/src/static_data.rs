//! Static data that a trace tells once, as esmini does, repeated in each message of
//! GroundTruth that lacks it. Nothing is parsed: fields are put beside fields.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{bail, Result};
use prost_reflect::prost::encoding::encode_varint;

use crate::channel::Channel;
use crate::read::{check_size, MessageInfo, Nanoseconds, Reader};
use crate::reader_adapter::ReaderAdapter;
use crate::wire::{is_message, Content, Fields};

/// What a GroundTruth has once and does not change, by the numbers of its fields.
const SINGLE: [(u64, &str); 7] = [
    (1, "version"),
    (3, "host_vehicle_id"),
    (13, "country_code"),
    (14, "proj_string"),
    (15, "map_reference"),
    (16, "model_reference"),
    (20, "proj_frame_offset"),
];

/// What it has many of, each with an id in its field 1.
const LISTS: [(u64, &str); 9] = [
    (4, "stationary_object"),
    (6, "traffic_sign"),
    (7, "traffic_light"),
    (8, "road_marking"),
    (9, "lane_boundary"),
    (10, "lane"),
    (17, "reference_line"),
    (18, "logical_lane_boundary"),
    (19, "logical_lane"),
];

/// The field `global_ground_truth` of a SensorView.
const GROUND_TRUTH: u64 = 7;

/// A reader whose messages of GroundTruth, those in SensorViews included, have all static
/// data that was told before. So it reads what comes before the wanted messages, too.
pub struct StaticDataRepeater {
    inner: Box<dyn Reader>,
    origin: String,
    known: BTreeMap<u16, StaticData>,
    /// The message that came last, where it lacked something.
    completed: Option<Vec<u8>>,
    /// How many there were, and how many of these lacked something.
    seen: u64,
    lacking: u64,
    /// How many elements of each field were put in.
    added: BTreeMap<&'static str, u64>,
}

impl StaticDataRepeater {
    /// Of what another reader reads; `origin` says in errors what that is.
    pub fn new(inner: Box<dyn Reader>, origin: &str) -> StaticDataRepeater {
        let (known, added) = Default::default();
        let origin = origin.to_owned();
        StaticDataRepeater { inner, origin, known, completed: None, seen: 0, lacking: 0, added }
    }

    /// Completes a message of a channel. What lacks nothing stays where it is.
    fn complete(&mut self, head: &MessageInfo, is_view: bool) {
        // Who asks for a damaged one is told by its reader what is wrong.
        let message = match self.inner.first_bytes(usize::MAX) {
            Ok(message) if message.len() as u64 == head.size => message,
            _ => return,
        };
        let known = self.known.entry(head.channel).or_default();
        self.completed = match is_view {
            true => complete_view(known, message, &mut self.added),
            false => known.complete(message, &mut self.added),
        };
        self.seen += 1;
        self.lacking += u64::from(self.completed.is_some());
    }
}

/// Whether the messages of a channel are GroundTruth (false) or hold one (true).
fn is_sensor_view(channel: &Channel) -> Option<bool> {
    let is_protobuf = channel.message_encoding == "protobuf";
    match channel.definition.name.as_str() {
        "osi3.GroundTruth" if is_protobuf => Some(false),
        "osi3.SensorView" if is_protobuf => Some(true),
        _ => None,
    }
}

impl ReaderAdapter for StaticDataRepeater {
    fn inner(&self) -> &dyn Reader {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Reader {
        self.inner.as_mut()
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        self.completed = None;
        let Some(mut head) = self.inner.next()? else {
            if self.seen == 0 {
                bail!(
                    "{} has no osi3.GroundTruth or osi3.SensorView in Protobuf, so there is no \
                     static data to repeat",
                    self.origin
                );
            }
            return Ok(None);
        };
        if let Some(is_view) = is_sensor_view(&self.inner.channels()[&head.channel]) {
            self.complete(&head, is_view);
            if let Some(completed) = &self.completed {
                head.size = completed.len() as u64;
                check_size(head.size, head.place)?;
            }
        }
        Ok(Some(head))
    }

    fn changed(&self) -> Option<&[u8]> {
        self.completed.as_deref()
    }

    /// What comes before is read, as it may tell what is static.
    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        // Where nothing more is wanted, nothing more is repeated.
        let is_over = from.zip(to).is_some_and(|(from, to)| from > to);
        self.inner.limit_times(from.filter(|_| is_over), to);
    }

    /// Nothing is left out that may tell what is static.
    fn skip_messages(&mut self, _: &dyn Fn(&Channel) -> bool, _: u64) -> Result<u64> {
        Ok(0)
    }

    fn added_remarks(&self) -> Vec<String> {
        let fields = self.added.iter().map(|(name, count)| format!("{name} ({count})"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        let (lacking, seen) = (self.lacking, self.seen);
        vec![match lacking {
            0 => "no message lacks static data that an earlier one has; nothing is repeated".into(),
            _ => format!("static data is repeated in {lacking} of {seen} messages: {fields}"),
        }]
    }
}

/// A field of a message with its bytes, its number and length included.
struct Field<'m> {
    number: u64,
    whole: &'m [u8],
    content: Content<'m>,
}

/// The fields of a message; none where it is no message.
fn fields(message: &[u8]) -> Option<Vec<Field<'_>>> {
    let mut left = Fields(message);
    let mut found = Vec::new();
    while !left.0.is_empty() {
        let before = left.0;
        let (number, content) = left.next()?;
        let whole = &before[..before.len() - left.0.len()];
        found.push(Field { number, whole, content });
    }
    Some(found)
}

/// The static data that was told so far: fields with their number and length.
#[derive(Default)]
struct StaticData {
    single: BTreeMap<u64, Vec<u8>>,
    lists: BTreeMap<u64, Elements>,
}

/// The elements of a field in the order that they came in.
#[derive(Default)]
struct Elements {
    all: Vec<(u64, Vec<u8>)>,
    /// Where each id is among them.
    places: HashMap<u64, usize>,
    /// Those of the message that last had some without an id.
    nameless: Vec<Vec<u8>>,
}

impl StaticData {
    /// The message with what it lacks; none where it lacks nothing. Its fields come in the
    /// order of their numbers, as Protobuf's libraries write them.
    fn complete(
        &mut self,
        message: &[u8],
        added: &mut BTreeMap<&'static str, u64>,
    ) -> Option<Vec<u8>> {
        let own = fields(message)?;
        let mut missing: Vec<(u64, Vec<u8>)> = Vec::new();
        for (number, name) in SINGLE {
            match own.iter().rev().find(|field| field.number == number) {
                Some(field) => drop(self.single.insert(number, field.whole.to_vec())),
                None => {
                    let known = self.single.get(&number).cloned();
                    *added.entry(name).or_default() += u64::from(known.is_some());
                    missing.extend(known.map(|whole| (number, whole)));
                }
            }
        }
        for (number, name) in LISTS {
            let own = own.iter().filter(|field| field.number == number);
            let lacks = self.lists.entry(number).or_default().update(own);
            *added.entry(name).or_default() += lacks.len() as u64;
            missing.extend(lacks.into_iter().map(|whole| (number, whole)));
        }
        added.retain(|_, count| *count > 0);
        if missing.is_empty() {
            return None;
        }
        let missing = missing.iter().map(|(number, whole)| (*number, whole.as_slice()));
        let own = own.iter().map(|field| (field.number, field.whole));
        let mut all: Vec<(u64, &[u8])> = missing.chain(own).collect();
        all.sort_by_key(|(number, _)| *number);
        Some(all.into_iter().flat_map(|(_, whole)| whole).copied().collect())
    }
}

impl Elements {
    /// Takes those of a message; what is known besides and it does not have.
    fn update<'m>(&mut self, own: impl Iterator<Item = &'m Field<'m>>) -> Vec<Vec<u8>> {
        let (mut there, mut nameless) = (BTreeSet::new(), Vec::new());
        for field in own {
            let Some(id) = element_id(field) else {
                nameless.push(field.whole.to_vec());
                continue;
            };
            there.insert(id);
            match self.places.get(&id) {
                Some(at) if self.all[*at].1 == field.whole => {}
                Some(at) => self.all[*at].1 = field.whole.to_vec(),
                None => {
                    self.places.insert(id, self.all.len());
                    self.all.push((id, field.whole.to_vec()));
                }
            }
        }
        let lacks = self.all.iter().filter(|(id, _)| !there.contains(id));
        let mut lacks: Vec<Vec<u8>> = lacks.map(|(_, whole)| whole.clone()).collect();
        match nameless.is_empty() {
            // They cannot be told apart, so all of them belong together.
            true if there.is_empty() => lacks.extend(self.nameless.iter().cloned()),
            true => {}
            false => self.nameless = nameless,
        }
        lacks
    }
}

/// The id of an element: the number in the field 1 of its field 1.
fn element_id(field: &Field) -> Option<u64> {
    let Content::Bytes(element) = field.content else { return None };
    let of = |message, wanted| Fields(message).filter(move |(number, _)| *number == wanted);
    let found = of(element, 1).filter_map(|(_, content)| match content {
        Content::Bytes(identifier) => of(identifier, 1).last(),
        _ => None,
    });
    match found.last() {
        Some((_, Content::Number(id))) => Some(id),
        _ => None,
    }
}

/// A SensorView whose GroundTruth is complete; none where it lacks nothing, or has none.
fn complete_view(
    known: &mut StaticData,
    message: &[u8],
    added: &mut BTreeMap<&'static str, u64>,
) -> Option<Vec<u8>> {
    let all = fields(message)?;
    let is_truth = |field: &&Field| field.number == GROUND_TRUTH;
    let mut pieces = Vec::new();
    for piece in all.iter().filter(is_truth) {
        let Content::Bytes(bytes) = piece.content else { return None };
        // Pieces of one message would not be one if they were damaged.
        if !is_message(bytes) {
            return None;
        }
        pieces.push(bytes);
    }
    let whole = match pieces[..] {
        [] => return None,
        [one] => Cow::Borrowed(one),
        _ => Cow::Owned(pieces.concat()),
    };
    let truth = known.complete(&whole, added)?;
    let mut completed = Vec::with_capacity(message.len() + truth.len() + 16);
    let mut truth = Some(truth);
    for field in all {
        if field.number != GROUND_TRUTH {
            completed.extend_from_slice(field.whole);
        } else if let Some(truth) = truth.take() {
            encode_varint(GROUND_TRUTH << 3 | 2, &mut completed);
            encode_varint(truth.len() as u64, &mut completed);
            completed.extend_from_slice(&truth);
        }
    }
    Some(completed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A field of bytes.
    fn bytes_field(number: u64, content: &[u8]) -> Vec<u8> {
        let mut field = Vec::new();
        encode_varint(number << 3 | 2, &mut field);
        encode_varint(content.len() as u64, &mut field);
        [field, content.to_vec()].concat()
    }

    /// An element with an id and something else.
    fn element(number: u64, id: u8, other: u8) -> Vec<u8> {
        bytes_field(number, &[&[0x0a, 2, 8, id, 0x10], &[other][..]].concat())
    }

    fn completed(known: &mut StaticData, message: &[u8]) -> Option<Vec<u8>> {
        known.complete(message, &mut BTreeMap::new())
    }

    #[test]
    fn what_a_message_lacks_is_put_in_and_no_more() {
        let mut known = StaticData::default();
        let time = [0x12, 2, 8, 1];
        let first =
            [&element(4, 1, 0)[..], &element(10, 5, 0), &bytes_field(15, b"map"), &time].concat();
        assert_eq!(completed(&mut known, &first), None, "the first has all there is");
        assert_eq!(completed(&mut known, &first), None, "and who has it needs nothing");
        let [one, lane, map] = [element(4, 1, 0), element(10, 5, 0), bytes_field(15, b"map")];
        let bare = [&time[..], &one, &lane, &map].concat();
        assert_eq!(completed(&mut known, &time).unwrap(), bare, "by the numbers of fields");
        // A new object alone, and another state of the one.
        let two = element(4, 2, 0);
        let with = [&time[..], &one, &two, &lane, &map].concat();
        assert_eq!(completed(&mut known, &[&two[..], &time].concat()).unwrap(), with);
        let other = element(4, 1, 9);
        let changed = [&time[..], &two, &other, &lane, &map].concat();
        assert_eq!(completed(&mut known, &[&other[..], &time].concat()).unwrap(), changed);
        let after = [&time[..], &other, &two, &lane, &map].concat();
        assert_eq!(completed(&mut known, &time).unwrap(), after);
    }

    #[test]
    fn what_moves_is_left_alone() {
        let mut known = StaticData::default();
        let moving =
            [element(5, 1, 0), bytes_field(12, &[8, 1]), bytes_field(11, &[0x0a, 0])].concat();
        assert_eq!(completed(&mut known, &[&moving[..], &bytes_field(1, &[8, 3])].concat()), None);
        assert_eq!(
            completed(&mut known, &bytes_field(2, &[])).unwrap(),
            [bytes_field(1, &[8, 3]), bytes_field(2, &[])].concat()
        );
    }

    #[test]
    fn elements_without_an_id_belong_together() {
        let mut known = StaticData::default();
        let nameless = [bytes_field(9, &[0x10, 1]), bytes_field(9, &[0x10, 2])].concat();
        assert_eq!(completed(&mut known, &nameless), None);
        assert_eq!(completed(&mut known, &[]).unwrap(), nameless);
        assert_eq!(completed(&mut known, &bytes_field(9, &[0x10, 3])), None);
        assert_eq!(completed(&mut known, &[]).unwrap(), bytes_field(9, &[0x10, 3]));
    }

    #[test]
    fn a_view_keeps_all_else_and_has_one_ground_truth() {
        let mut known = StaticData::default();
        let mut view = |message: &[u8]| complete_view(&mut known, message, &mut BTreeMap::new());
        let (lane, time) = (element(10, 5, 0), bytes_field(2, &[8, 1]));
        let rest = [bytes_field(3, &[8, 9]), bytes_field(1002, b"\x12\x00")];
        let with = |truth: &[u8]| [&rest[0][..], truth, &rest[1]].concat();
        assert_eq!(view(&with(&bytes_field(7, &lane))), None);
        let whole = bytes_field(7, &[&time[..], &lane].concat());
        assert_eq!(view(&with(&bytes_field(7, &time))).unwrap(), with(&whole));
        let pieces = [bytes_field(7, &bytes_field(2, &[])), bytes_field(7, &time)].concat();
        let merged = bytes_field(7, &[&bytes_field(2, &[])[..], &time, &lane].concat());
        assert_eq!(view(&with(&pieces)).unwrap(), with(&merged));
        // None is made where there is none, and what is no message is left as it is.
        assert_eq!(view(&rest.concat()), None);
        assert_eq!(view(&bytes_field(7, &[0x0b])), None);
        assert_eq!(view(&[0x3a, 9]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_and_what_is_complete_stays(
            messages in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![Just(0x22u8), Just(0x3a), Just(0x0a), Just(2), Just(8), any::<u8>()],
                    0..24,
                ),
                1..6,
            ),
        ) {
            let (mut known, mut of_views) = (StaticData::default(), StaticData::default());
            for message in &messages {
                let _ = complete_view(&mut of_views, message, &mut BTreeMap::new());
                let Some(whole) = completed(&mut known, message) else { continue };
                prop_assert!(is_message(&whole) && whole.len() > message.len());
                prop_assert_eq!(completed(&mut known, &whole), None);
            }
        }
    }
}
