//! Clouds and scans of ROS, in any layout: each value comes back as a loop over single bytes
//! reads it.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, TimestampNanosecondType, UInt32Type};
use arrow_array::Array;
use proptest::prelude::*;
use wiregauge_packed::{Element, Plan, PointField, Preset};
use wiregauge_points::{ChannelPoints, PointSource, Points, SensorConventions, Values};

use crate::support::{
    channel, flight, head, sensor_view, stamped, Double, Field as Part, Message, Number,
};

/// A field of points: its type's number, bytes before it that nothing says, and how many.
type Field = (u8, usize, usize);

const SIZES: [usize; 8] = [1, 1, 2, 2, 4, 4, 4, 8];

/// A cloud as a message.
#[derive(Clone, Debug)]
struct Cloud {
    is_cdr: bool,
    /// Whether the message, and whether its points have their most significant byte first.
    is_big: [bool; 2],
    fields: Vec<Field>,
    /// Rows, points in a row, bytes behind a point and behind a row.
    rows: usize,
    points: usize,
    gaps: [usize; 2],
    /// Whether fields are told from the last to the first.
    is_reversed: bool,
    seed: u64,
}

prop_compose! {
    fn cloud()(
        is_cdr: bool,
        is_big: [bool; 2],
        fields in prop::collection::vec((1..9u8, 0..4usize, 1..4usize), 1..6),
        rows in 0..4usize,
        points in 0..40usize,
        gaps in [0..9usize, 0..9usize],
        is_reversed: bool,
        seed: u64,
    ) -> Cloud {
        Cloud { is_cdr, is_big: [is_big[0] && is_cdr, is_big[1]], fields, rows, points, gaps, is_reversed, seed }
    }
}

impl Cloud {
    /// Where each field begins, and the bytes of a point.
    fn offsets(&self) -> (Vec<usize>, usize) {
        let mut end = 0;
        let offsets = self.fields.iter().map(|(kind, gap, count)| {
            let at = end + gap;
            end = at + SIZES[usize::from(kind - 1)] * count;
            at
        });
        (offsets.collect(), end + self.gaps[0])
    }

    /// The bytes of the points: any.
    fn data(&self) -> Vec<u8> {
        let row = self.points * self.offsets().1 + self.gaps[1];
        let mut state = self.seed | 1;
        let bytes = (0..row * self.rows).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        bytes.collect()
    }

    fn message(&self) -> Vec<u8> {
        self.message_with(self.data(), None)
    }

    /// The same as point_cloud_transport has it, with points that are packed.
    fn packed_message(&self, plan: &Plan) -> Vec<u8> {
        const ELEMENTS: [Element; 8] = [
            Element::I8,
            Element::U8,
            Element::I16,
            Element::U16,
            Element::I32,
            Element::U32,
            Element::F32,
            Element::F64,
        ];
        let (offsets, step) = self.offsets();
        let fields = self.fields.iter().zip(offsets).enumerate();
        let fields = fields.flat_map(|(number, ((kind, _, count), offset))| {
            let element = ELEMENTS[usize::from(kind - 1)];
            (0..*count).map(move |at| PointField {
                name: if *count == 1 { format!("f{number}") } else { format!("f{number}[{at}]") },
                offset: offset + at * element.size(),
                element,
            })
        });
        let points = wiregauge_packed::Points::new(fields.collect(), step, self.is_big[1]).unwrap();
        self.message_with(points.pack(&self.data(), plan).unwrap().0, Some("wgpacked"))
    }

    fn message_with(&self, data: Vec<u8>, format: Option<&str>) -> Vec<u8> {
        let mut out = Wire { out: Vec::new(), is_cdr: self.is_cdr, is_big: self.is_big[0] };
        (0..2 + usize::from(!self.is_cdr)).for_each(|_| out.number(7));
        out.text("lidar");
        out.number(self.rows);
        out.number(self.points);
        out.number(self.fields.len());
        let (offsets, step) = self.offsets();
        let mut fields: Vec<_> = self.fields.iter().zip(offsets).enumerate().collect();
        if self.is_reversed {
            fields.reverse();
        }
        for (at, ((kind, _, count), offset)) in fields {
            out.text(&format!("f{at}"));
            out.number(offset);
            out.out.push(*kind);
            out.number(*count);
        }
        out.out.push(u8::from(self.is_big[1]));
        out.number(step);
        out.number(self.points * step + self.gaps[1]);
        out.number(data.len());
        out.out.extend(data);
        out.out.push(1);
        if let Some(format) = format {
            out.text(format);
        }
        out.finish()
    }

    /// The bits of each value of a field's numbers, one after another.
    fn bits(&self, field: usize, number: usize) -> Vec<u64> {
        let (offsets, step) = self.offsets();
        let (kind, ..) = self.fields[field];
        let (size, data) = (SIZES[usize::from(kind - 1)], self.data());
        let places = (0..self.rows).flat_map(|row| (0..self.points).map(move |point| (row, point)));
        let values = places.map(|(row, point)| {
            let at = row * (self.points * step + self.gaps[1]) + point * step;
            let at = at + offsets[field] + number * size;
            let bytes = data[at..at + size].iter();
            let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            match self.is_big[1] {
                true => bytes.fold(0, join),
                false => bytes.rev().fold(0, join),
            }
        });
        values.collect()
    }
}

/// A message that is written.
struct Wire {
    out: Vec<u8>,
    is_cdr: bool,
    is_big: bool,
}

impl Wire {
    fn number(&mut self, number: usize) {
        if self.is_cdr {
            self.out.resize(self.out.len().next_multiple_of(4), 0);
        }
        let number = number as u32;
        self.out.extend(if self.is_big { number.to_be_bytes() } else { number.to_le_bytes() });
    }

    fn float(&mut self, number: f32) {
        self.number(number.to_bits() as usize);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() + usize::from(self.is_cdr));
        self.out.extend(text.as_bytes());
        self.out.extend(self.is_cdr.then_some(0));
    }

    fn finish(self) -> Vec<u8> {
        let header = [0, u8::from(!self.is_big), 0, 0];
        [if self.is_cdr { &header[..] } else { &[] }, &self.out].concat()
    }
}

fn name(kind: &str, is_cdr: bool) -> (String, &'static str) {
    match is_cdr {
        true => (format!("sensor_msgs/msg/{kind}"), "cdr"),
        false => (format!("sensor_msgs/{kind}"), "ros1"),
    }
}

fn read(kind: &str, is_cdr: bool, message: &[u8]) -> Points {
    let (name, encoding) = name(kind, is_cdr);
    let source = PointSource::from_channel(&channel("/points", &name, encoding)).unwrap();
    source.points(message, SensorConventions::default()).unwrap().remove(0)
}

/// The bits of values, without their signs' extension.
fn bits(values: &Values) -> Vec<u64> {
    match values {
        Values::I8(list) => list.iter().map(|value| u64::from(*value as u8)).collect(),
        Values::U8(list) => list.iter().map(|value| u64::from(*value)).collect(),
        Values::I16(list) => list.iter().map(|value| u64::from(*value as u16)).collect(),
        Values::U16(list) => list.iter().map(|value| u64::from(*value)).collect(),
        Values::I32(list) => list.iter().map(|value| u64::from(*value as u32)).collect(),
        Values::U32(list) => list.iter().map(|value| u64::from(*value)).collect(),
        Values::F32(list) => list.iter().map(|value| u64::from(value.to_bits())).collect(),
        Values::F64(list) => list.iter().map(|value| value.to_bits()).collect(),
        Values::U64(_) => panic!("no field has this type"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_layout_is_read_to_the_bit(cloud in cloud()) {
        let points = read("PointCloud2", cloud.is_cdr, &cloud.message());
        prop_assert_eq!(points.count, cloud.rows * cloud.points);
        let columns = |field: usize| (0..cloud.fields[field].2).map(move |number| (field, number));
        let mut fields: Vec<usize> = (0..cloud.fields.len()).collect();
        if cloud.is_reversed {
            fields.reverse();
        }
        let wanted: Vec<(usize, usize)> = fields.into_iter().flat_map(columns).collect();
        prop_assert_eq!(points.columns.len(), wanted.len());
        for (column, (field, number)) in points.columns.iter().zip(wanted) {
            let name = match cloud.fields[field].2 {
                1 => format!("f{field}"),
                _ => format!("f{field}_{number}"),
            };
            prop_assert_eq!(&column.name, &name);
            prop_assert_eq!(bits(&column.values), cloud.bits(field, number), "{}", name);
        }
    }
}

/// A scan of four rays, whose third one met nothing.
fn scan(is_cdr: bool, intensities: &[f32]) -> Vec<u8> {
    let mut out = Wire { out: Vec::new(), is_cdr, is_big: false };
    (0..2 + usize::from(!is_cdr)).for_each(|_| out.number(7));
    out.text("laser");
    [0.0, 1.5, 0.5, 0.0, 0.1, 0.5, 30.0].into_iter().for_each(|number| out.float(number));
    out.number(4);
    [1.0, 2.0, f32::INFINITY, 0.1].into_iter().for_each(|range| out.float(range));
    out.number(intensities.len());
    intensities.iter().for_each(|number| out.float(*number));
    out.finish()
}

#[test]
fn a_scan_has_a_point_a_ray() {
    for is_cdr in [true, false] {
        let points = read("LaserScan", is_cdr, &scan(is_cdr, &[5.0, 6.0, 7.0, 8.0]));
        let names: Vec<&str> = points.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["x", "y", "z", "angle", "range", "intensity"]);
        assert_eq!((points.count, points.frame.as_deref()), (4, Some("laser")));
        let Values::F32(x) = &points.columns[0].values else { panic!("{points:?}") };
        assert_eq!((x[0], x[1]), (1.0, (2.0 * 0.5f64.cos()) as f32));
        assert_eq!(points.columns[1].present, Some(vec![true, true, false, false]));
        assert_eq!(points.columns[3].values, Values::F64(vec![0.0, 0.5, 1.0, 1.5]));
        assert_eq!(points.columns[4].values, Values::F32(vec![1.0, 2.0, f32::INFINITY, 0.1]));
        assert_eq!(read("LaserScan", is_cdr, &scan(is_cdr, &[])).columns.len(), 5);
        let (name, encoding) = name("LaserScan", is_cdr);
        let source = PointSource::from_channel(&channel("/scan", &name, encoding)).unwrap();
        let whole = scan(is_cdr, &[5.0, 6.0, 7.0, 8.0]);
        for message in (0..whole.len()).map(|cut| &whole[..cut]).chain([&scan(is_cdr, &[1.0])[..]])
        {
            assert!(source.points(message, SensorConventions::default()).is_err());
        }
    }
}

fn small(fields: &[Field], points: usize) -> Vec<u8> {
    let cloud = Cloud {
        is_cdr: true,
        is_big: [false; 2],
        fields: fields.to_vec(),
        rows: 1,
        points,
        gaps: [0; 2],
        is_reversed: false,
        seed: 3,
    };
    cloud.message()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packed_clouds_have_the_points_of_plain_ones(cloud in cloud(), is_reduced: bool) {
        let cloud = Cloud { gaps: [cloud.gaps[0], 0], ..cloud };
        let (encoding, middle) = if cloud.is_cdr { ("cdr", "msg/") } else { ("ros1", "") };
        let presets = is_reduced.then(|| Preset::find("lidar-exact").unwrap());
        let plan = Plan { presets: presets.into_iter().collect(), ..Plan::default() };
        let read = |name: &str, message: &[u8]| {
            let channel = channel("/points", &name.replace("msg/", middle), encoding);
            let source = PointSource::from_channel(&channel).unwrap();
            source.points(message, SensorConventions::default()).unwrap()
        };
        let plain = read("sensor_msgs/msg/PointCloud2", &cloud.message());
        let name = "point_cloud_interfaces/msg/CompressedPointCloud2";
        let packed = read(name, &cloud.packed_message(&plan));
        // NaN is not equal to itself.
        let bits = |points: &[Points]| {
            let columns = points[0].columns.iter();
            let bits = columns.map(|column| wiregauge_points::each!(&column.values, list => {
                list.iter().map(|value| value.to_le_bytes().to_vec()).collect::<Vec<_>>()
            }));
            bits.collect::<Vec<_>>()
        };
        prop_assert_eq!(bits(&packed), bits(&plain));
        let heads = [&plain, &packed].map(|points| {
            let columns = points[0].columns.iter();
            let columns: Vec<_> = columns.map(|it| (it.name.clone(), it.values.kind())).collect();
            (points[0].count, points[0].frame.clone(), points[0].time, columns)
        });
        prop_assert_eq!(&heads[0], &heads[1]);
    }
}

#[test]
fn clouds_of_other_packers_are_refused_by_name() {
    let name = "point_cloud_interfaces/msg/CompressedPointCloud2";
    let channel = channel("/points", name, "cdr");
    let cloud = Cloud {
        is_cdr: true,
        is_big: [false; 2],
        fields: vec![(7, 0, 1)],
        rows: 1,
        points: 3,
        gaps: [0; 2],
        is_reversed: false,
        seed: 1,
    };
    let error = |message: &[u8]| {
        let mut points = ChannelPoints::new(&channel, &[], SensorConventions::default()).unwrap();
        format!("{:#}", points.push(&head(1, 0), message).unwrap_err())
    };
    for format in ["draco", "cloudini", "zlib", ""] {
        let said = error(&cloud.message_with(vec![1, 2, 3], Some(format)));
        let words = format!("its points are packed by '{format}', which wiregauge does not unpack");
        assert!(said.contains(&words) && said.starts_with("/points: the message at"), "{said}");
    }
    let said = error(&cloud.message_with(vec![1, 2, 3], Some("wgpacked")));
    assert!(said.contains("the packed points: "), "{said}");
    let packed = cloud.packed_message(&Plan::default());
    let other = Cloud { points: 4, ..cloud };
    let field = &packed[packed.windows(8).position(|at| at == b"WGPACKED").unwrap()..];
    let said = error(&other.message_with(field.to_vec(), Some("wgpacked")));
    assert!(said.contains("3 points are packed, but the message declares 4"), "{said}");
}

#[test]
fn points_of_a_channel_come_in_batches() {
    let channel = channel("/points", "sensor_msgs/msg/PointCloud2", "cdr");
    let points = |columns: &[&str]| {
        let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        ChannelPoints::new(&channel, &columns, SensorConventions::default()).unwrap()
    };
    let fields = [(7, 0, 1), (6, 2, 1), (7, 0, 1)];
    let (full, large) = (small(&fields, 3), small(&fields, 70_000));
    let mut all = points(&[]);
    assert_eq!(all.push(&head(5, 1), &small(&fields, 0)).unwrap(), 0);
    assert!(all.schema().is_none(), "no point has come");
    assert_eq!(all.push(&head(6, 1), &full).unwrap(), 3);
    assert_eq!((all.len(), all.is_full()), (3, false));
    all.push(&head(7, 1), &large).unwrap();
    assert!(all.is_full());
    let batch = all.finish().unwrap();
    assert_eq!((batch.num_rows(), batch.schema()), (70_003, all.schema().unwrap()));
    let times = batch.column(0).as_primitive::<TimestampNanosecondType>();
    let messages = batch.column(1).as_primitive::<UInt32Type>();
    let place = |row: usize| (times.value(row), messages.value(row));
    assert_eq!([place(0), place(2), place(3), place(70_002)], [(6, 1), (6, 1), (7, 2), (7, 2)]);
    assert!(all.is_empty());
    let mut some = points(&["f2", "f0"]);
    some.push(&head(6, 1), &full).unwrap();
    let chosen = some.finish().unwrap();
    let names: Vec<_> = chosen.schema().fields().iter().map(|it| it.name().clone()).collect();
    assert_eq!(names, ["log_time", "message", "f2", "f0"]);
    let column = |batch: &arrow_array::RecordBatch, name: &str| -> Vec<u32> {
        let column = batch.column_by_name(name).unwrap().as_primitive::<Float32Type>();
        column.values()[..3].iter().map(|value| value.to_bits()).collect()
    };
    assert_eq!(column(&chosen, "f2"), column(&batch, "f2"));
    assert_eq!(batch.column(4).null_count(), 0);
    for (mut points, message, words) in [
        (points(&["f7"]), &full, "the points have no column f7"),
        (some, &small(&[(8, 0, 1)], 1), "its column f0 is F64, and F32 in those before"),
        (
            all,
            &small(&[fields[0], fields[1], fields[2], (7, 0, 1)], 1),
            "a column f3, which those before lack",
        ),
    ] {
        let before = points.len();
        let error = format!("{:#}", points.push(&head(8, 1), message).unwrap_err());
        assert!(error.contains(words) && error.starts_with("/points: the message at"), "{error}");
        assert_eq!(points.len(), before);
    }
}

#[test]
fn points_of_osi_have_all_columns_of_their_definition() {
    let reflection = |strength: f64| Message(2, vec![Double(1, strength), Double(2, flight(1.0))]);
    let view = |rows: Vec<Part>| stamped(vec![Message(1002, rows)]);
    let mut points = ChannelPoints::new(&sensor_view(), &[], SensorConventions::default()).unwrap();
    assert_eq!(points.push(&head(1, 1), &view(Vec::new())).unwrap(), 0);
    assert_eq!(points.push(&head(2, 1), &view(vec![reflection(3.0), reflection(4.0)])).unwrap(), 2);
    let id = Message(2, vec![Message(6, vec![Number(1, 9)])]);
    assert_eq!(points.push(&head(3, 1), &view(vec![id])).unwrap(), 1);
    let batch = points.finish().unwrap();
    let column = |name: &str| batch.column_by_name(name).unwrap().clone();
    assert_eq!(column("signal_strength").null_count(), 1);
    assert_eq!(column("object_id").null_count(), 2);
    assert_eq!(column("doppler_shift").null_count(), 3);
    assert_eq!(column("list").len(), 3);
}
