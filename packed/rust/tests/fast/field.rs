//! The field's bytes: where everything lies, and what is refused.

use std::path::Path;

use wiregauge_packed::{
    find, first, pack, unpack, Column, Element, Error, Fault, Half, Kind, Layout, Message,
    PackOptions, Root, UnpackOptions, View, MAXIMUM_ROWS,
};

/// The worked example of docs/packed.md.
fn example() -> Vec<u8> {
    let columns = [
        Column::f64("time_of_flight"),
        Column::new("signal_strength", Element::I16).scaled(0.0, 0.5).optional(),
    ];
    let layout = Layout::plan(&columns, 3, 0, 8).unwrap();
    let mut bytes = vec![0xee; layout.size()];
    let mut table = layout.write(&mut bytes).unwrap();
    let mut columns = table.columns();
    columns[0].sink::<f64>().unwrap().fill([1e-7, 2e-7, 4e-7]);
    for (row, value) in [(0, -3.0), (1, 0.0), (2, -60.5)] {
        assert!(columns[1].set(row, value));
    }
    columns[1].set_present(0);
    columns[1].set_present(2);
    bytes
}

fn dump(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).enumerate().map(|(i, line)| {
        let hex: String = line.iter().map(|byte| format!(" {byte:02x}")).collect();
        let show = |byte: &u8| if (0x20..0x7f).contains(byte) { *byte as char } else { '.' };
        format!("{:04x} {hex:<48}  {}\n", 16 * i, line.iter().map(show).collect::<String>())
    });
    lines.collect()
}

#[test]
fn the_specification_shows_the_bytes() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/packed.md");
    let page = std::fs::read_to_string(page).unwrap();
    let dump = dump(&example());
    assert!(page.contains(&dump), "docs/packed.md must show these bytes:\n{dump}");
}

#[test]
fn the_example_reads_as_it_was_written() {
    let bytes = example();
    let view = View::open(&bytes).unwrap();
    assert_eq!((view.rows(), view.columns().len(), view.minor_version()), (3, 2, 0));
    let time = view.column::<f64>("time_of_flight").unwrap();
    assert_eq!(time.iter().collect::<Vec<_>>(), [1e-7, 2e-7, 4e-7]);
    assert!(!time.is_optional());
    let strength = view.values("signal_strength").unwrap();
    let present: Vec<bool> = (0..3).map(|row| strength.present(row)).collect();
    assert_eq!(present, [true, false, true]);
    assert_eq!((strength.value(0), strength.value(2)), (-3.0, -60.5));
    let raw = view.raw_column::<i16>("signal_strength").unwrap();
    assert_eq!((raw.get(0), raw.get(1), raw.get(2)), (-6, 0, -121));
    // A scaled column is no column of plain integers, nor one of another type.
    assert!(view.column::<i16>("signal_strength").is_none());
    assert!(view.column::<f32>("time_of_flight").is_none());
    assert!(view.column::<f64>("doppler_shift").is_none());
}

/// The first column's descriptor is at 32, the second's at 80, names at 128,
/// elements at 160 and 184, the bitmap at 192; 193 bytes.
#[test]
fn every_check_of_the_specification_refuses() {
    let edits: &[(&str, usize, &[u8], Fault)] = &[
        ("other magic", 0, b"X", Fault::Magic),
        ("a later major version", 8, &[2, 0], Fault::Version),
        ("major version 0", 8, &[0, 0], Fault::Version),
        ("a short header", 12, &[31, 0], Fault::Header),
        ("short descriptors", 14, &[47, 0], Fault::Header),
        ("too many rows", 16, &[0, 0, 0, 0x80], Fault::Limit),
        ("rows beyond 64 bits of bytes", 16, &[0, 0, 0, 0, 0, 0, 0, 0x20], Fault::Limit),
        ("too many columns", 24, &[1, 1], Fault::Limit),
        ("descriptors beyond the end", 24, &[4], Fault::Truncated),
        ("names beyond the end", 28, &[66], Fault::Truncated),
        ("names beyond all ends", 28, &[0xff; 4], Fault::Truncated),
        ("a long header", 12, &[98, 0], Fault::Truncated),
        ("more rows than elements", 16, &[4], Fault::Range),
        ("fewer rows than elements", 16, &[2], Fault::Range),
        ("elements that end beyond the field", 32, &[170], Fault::Range),
        ("elements beyond 64 bits", 32, &[0xff; 8], Fault::Range),
        ("elements over 64 bits", 40, &[0xff; 8], Fault::Range),
        ("elements in the header", 32, &[8], Fault::Overlap),
        ("elements in the names", 32, &[156], Fault::Overlap),
        ("elements over others", 32, &[169], Fault::Overlap),
        ("elements over their bitmap", 80, &[187], Fault::Overlap),
        ("a bitmap beyond the end", 96, &[193], Fault::Range),
        ("a bitmap beyond 64 bits", 96, &[0xff; 8], Fault::Range),
        ("a bitmap in the header", 96, &[1], Fault::Overlap),
        ("a bitmap over others", 96, &[160], Fault::Overlap),
        ("a scale of 0", 112, &[0; 8], Fault::Scale),
        ("a scale that is no number", 112, &[0xff; 8], Fault::Scale),
        ("an infinite offset", 104, &[0, 0, 0, 0, 0, 0, 0xf0, 0x7f], Fault::Scale),
        ("a scale on doubles", 79, &[1], Fault::Scale),
        ("another element type", 78, &[2], Fault::Range),
        ("no name", 76, &[0, 0], Fault::Name),
        ("a name too long", 76, &[0, 1], Fault::Range),
        ("a name beyond the names", 72, &[16], Fault::Range),
        ("a name beyond 32 bits", 72, &[0xff; 4], Fault::Range),
        ("a blank in a name", 130, b" ", Fault::Name),
        ("no ASCII in a name", 130, &[0xc3], Fault::Name),
        ("one name for both", 120, &[0, 0, 0, 0, 14, 0], Fault::Duplicate),
    ];
    for (what, at, bytes, fault) in edits {
        let mut field = example();
        field[*at..at + bytes.len()].copy_from_slice(bytes);
        match View::open(&field) {
            Err(error) => assert_eq!(error.fault, *fault, "{what}: {error}"),
            Ok(_) => panic!("{what} is not refused"),
        }
    }
}

#[test]
fn what_is_cut_short_is_refused() {
    let field = example();
    for size in 0..field.len() {
        assert!(View::open(&field[..size]).is_err(), "{size} bytes are taken");
    }
}

/// A later minor version: longer header and descriptors, an element type and a
/// flag that we do not know, bytes behind the last column.
#[test]
fn a_later_minor_version_is_read_as_far_as_known() {
    let old = example();
    let mut field = old[..32].to_vec();
    field.extend([0xaa; 8]);
    for descriptor in old[32..128].chunks(48) {
        field.extend_from_slice(descriptor);
        field.extend([0xbb; 4]);
    }
    field.extend_from_slice(&old[128..157]);
    let shift = field.len() - 157;
    field.extend_from_slice(&old[157..]);
    field.extend([0xcc; 5]);
    field[10] = 7;
    field[12] = 40;
    field[14] = 52;
    for (at, offset) in [(40, 160), (92, 184), (108, 192)] {
        field[at] = (offset + shift) as u8;
    }
    let view = View::open(&field).unwrap();
    assert_eq!(view.minor_version(), 7);
    assert_eq!(view.column::<f64>("time_of_flight").unwrap().get(2), 4e-7);
    assert_eq!(view.values("signal_strength").unwrap().value(2), -60.5);

    for (what, at, byte) in [("element type", 92 + 46, 12), ("flag", 92 + 47, 5)] {
        let mut field = field.clone();
        field[at] = byte;
        let view = View::open(&field).unwrap();
        assert_eq!(view.values("signal_strength").unwrap().element, None, "{what}");
        assert!(view.values("signal_strength").unwrap().value(0).is_nan());
        assert!(view.raw_column::<i16>("signal_strength").is_none(), "{what}");
        assert_eq!(view.column::<f64>("time_of_flight").unwrap().get(2), 4e-7);
        // Its place is checked all the same.
        field[92] = 0;
        assert_eq!(View::open(&field).unwrap_err().fault, Fault::Overlap, "{what}");
    }
}

#[test]
fn there_is_nothing_per_row_but_the_elements() {
    let columns = [Column::f64("signal_strength"), Column::f64("time_of_flight")];
    let mut message = Message::new(Root::SensorView, b"");
    message.add(Kind::LidarReflections, &columns, 829_440, b"").unwrap();
    let size = message.plan().unwrap();
    assert!((13_271_040..13_271_040 + 240).contains(&size), "{size} bytes");
}

/// Whatever stands before, and wherever lengths take another byte, the columns
/// are aligned to 64 bytes from the message's beginning.
#[test]
fn columns_are_aligned_in_the_message() {
    let columns = [
        Column::new("a", Element::U8).optional(),
        Column::f64("b"),
        Column::new("c", Element::None).optional(),
    ];
    for rest in (0..200).chain(16_200..16_383) {
        for rows in [0, 1, 13, 1700, 1811] {
            // Field 13 of so many bytes.
            let rest = match rest {
                0 => Vec::new(),
                1..128 => [&[0x6a, rest as u8], &vec![0; rest][..]].concat(),
                _ => [&[0x6a, rest as u8 | 0x80, (rest >> 7) as u8], &vec![0; rest][..]].concat(),
            };
            let mut message = Message::new(Root::SensorData, &rest);
            message.add(Kind::LidarDetections, &columns, rows, &[0x0a, 1, 0]).unwrap();
            message.add(Kind::RadarDetections, &columns, rows, &rest).unwrap();
            let mut bytes = vec![0xee; message.plan().unwrap()];
            message.write(&mut bytes).unwrap();
            assert_eq!(&bytes[..rest.len()], &rest);
            let found = find(Root::SensorData, &bytes).unwrap();
            assert_eq!(found.len(), 2);
            for found in found {
                let view = View::open(found.field.unwrap()).unwrap();
                assert_eq!(view.rows(), rows as usize);
                for values in view.columns() {
                    let at = values.data.as_ptr() as usize - bytes.as_ptr() as usize;
                    assert_eq!(at % 64, 0, "{rows} rows behind {} bytes", rest.len());
                }
            }
        }
    }
}

#[test]
fn a_writer_refuses_what_a_reader_would() {
    let plan = |columns: &[Column], rows, alignment| {
        Layout::plan(columns, rows, 0, alignment).map(|_| ()).map_err(|error| error.fault)
    };
    let one = [Column::f64("a")];
    assert_eq!(plan(&one, 1, 64), Ok(()));
    assert_eq!(plan(&one, 1 << 28, 64), Err(Fault::Limit));
    assert_eq!(plan(&one, u64::MAX, 64), Err(Fault::Limit));
    assert_eq!(plan(&[], MAXIMUM_ROWS + 1, 64), Err(Fault::Limit));
    for alignment in [0, 3, 8192] {
        assert_eq!(plan(&one, 1, alignment), Err(Fault::Limit));
    }
    let many: Vec<Column> = (0..257).map(|i| Column::f64(&format!("c{i}"))).collect();
    assert_eq!(plan(&many[..256], 1, 64), Ok(()));
    assert_eq!(plan(&many, 1, 64), Err(Fault::Limit));
    assert_eq!(plan(&[one[0].clone(), one[0].clone()], 1, 64), Err(Fault::Duplicate));
    for name in ["", "a b", "ä", &"x".repeat(256)] {
        assert_eq!(plan(&[Column::f64(name)], 1, 64), Err(Fault::Name));
    }
    for scale in [0.0, f64::NAN, f64::INFINITY] {
        let column = Column::new("a", Element::U8).scaled(0.0, scale);
        assert_eq!(plan(&[column], 1, 64), Err(Fault::Scale));
    }
    assert_eq!(plan(&[one[0].clone().scaled(0.0, 1.0)], 1, 64), Err(Fault::Scale));

    let layout = Layout::plan(&one, 1, 0, 64).unwrap();
    let mut short = vec![0; layout.size() - 1];
    assert_eq!(layout.write(&mut short).map(|_| ()).unwrap_err().fault, Fault::Buffer);
    let mut message = Message::new(Root::SensorView, b"");
    let error = message.add(Kind::LidarDetections, &one, 1, b"").unwrap_err();
    assert_eq!(error.fault, Fault::Kind);
}

/// A SensorView with one lidar of these fields.
fn lidar(fields: &[u8]) -> Vec<u8> {
    [&[0xd2, 0x3e, fields.len() as u8], fields].concat()
}

fn refusal(fields: &[u8]) -> Error {
    pack(Root::SensorView, &lidar(fields), &PackOptions::default()).unwrap_err()
}

#[test]
fn a_row_that_columns_do_not_cover_is_refused_by_name() {
    // A field number 4, which OSI has left out.
    let error = refusal(&[0x12, 2, 0x20, 1]);
    assert_eq!((error.fault, error.number, &*error.name), (Fault::Unknown, 4, "reflection"));
    assert_eq!(error.to_string(), "field 4 of 'reflection' has no column, so it would be lost");
    // Number 4 of normal_to_surface.
    let error = refusal(&[0x12, 4, 0x2a, 2, 0x20, 1]);
    assert_eq!((error.fault, error.number, &*error.name), (Fault::Unknown, 4, "normal_to_surface"));
    // signal_strength, but not as a double.
    let error = refusal(&[0x12, 2, 0x08, 1]);
    assert_eq!((error.fault, error.number), (Fault::Unknown, 1));
    // A group, as an unknown field.
    assert_eq!(refusal(&[0x12, 2, 0x23, 0x24]).fault, Fault::Unknown);
    // Rows and the packed field.
    let both = [0x12, 0, 0x9a, 0xc5, 0x19, 0];
    assert_eq!(refusal(&both).fault, Fault::Both);
    let error = unpack(Root::SensorView, &lidar(&both), &UnpackOptions::default()).unwrap_err();
    assert_eq!(error.fault, Fault::Both);
}

#[test]
fn foreign_columns_are_refused_or_dropped() {
    let columns = [Column::f64("time_of_flight"), Column::new("example.org/x", Element::U8)];
    let mut message = Message::new(Root::SensorView, b"");
    message.add(Kind::LidarReflections, &columns, 2, b"").unwrap();
    let mut bytes = vec![0; message.plan().unwrap()];
    message.write(&mut bytes).unwrap();
    let error = unpack(Root::SensorView, &bytes, &UnpackOptions::default()).unwrap_err();
    assert_eq!((error.fault, &*error.name), (Fault::Foreign, "example.org/x"));
    let options = UnpackOptions { drop_unknown: true, ..UnpackOptions::default() };
    let row = [0x12, 9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(unpack(Root::SensorView, &bytes, &options).unwrap(), lidar(&row.repeat(2)));
    let options = UnpackOptions { limit: 20, ..options };
    assert_eq!(unpack(Root::SensorView, &bytes, &options).unwrap_err().fault, Fault::Limit);
}

/// Of several packed fields the last counts, groups are skipped, and pieces of
/// feature_data belong together.
#[test]
fn protobufs_rules_hold_on_the_way() {
    let field = example();
    let packed = [&[0x9a, 0xc5, 0x19, 0xc1, 0x01], &field[..]].concat();
    assert_eq!(field.len(), 0xc1);
    let group = [0x0b, 0x13, 0x08, 1, 0x14, 0x0c];
    let inner = [&[0x9a, 0xc5, 0x19, 1, 9], &group[..], &packed].concat();
    let mut view = vec![0xd2, 0x3e];
    view.extend([inner.len() as u8 | 0x80, (inner.len() >> 7) as u8]);
    view.extend(inner);
    let message = [&group[..], &view].concat();
    let found = first(Root::SensorView, &message, Kind::LidarReflections).unwrap().unwrap();
    assert_eq!(found.rows(), 3);
    assert!(first(Root::SensorView, &message, Kind::RadarReflections).unwrap().is_none());

    let pieces = [0xd2, 1, 2, 0x1a, 0, 0xd2, 1, 4, 0x12, 0, 0x1a, 0];
    let kinds: Vec<Kind> =
        find(Root::SensorData, &pieces).unwrap().iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [Kind::LidarDetections, Kind::RadarDetections, Kind::LidarDetections]);

    let fault = |bytes: &[u8]| find(Root::SensorView, bytes).unwrap_err().fault;
    assert_eq!(fault(&[0x0b, 0x14]), Fault::Wire, "another group's end");
    assert_eq!(fault(&[0x0b]), Fault::Wire, "a group without an end");
    assert_eq!(fault(&[0x0c]), Fault::Wire, "an end without a group");
    assert_eq!(fault(&[0x0e]), Fault::Wire, "wire type 6");
    assert_eq!(fault(&[0x00]), Fault::Wire, "number 0");
    assert_eq!(fault(&[0x0a, 2, 0]), Fault::Wire, "a length beyond the end");
    assert_eq!(fault(&[0x08, 0xff]), Fault::Wire, "a varint cut short");
    let eleven = [&[0x08][..], &[0xff; 10], &[0]].concat();
    assert_eq!(fault(&eleven), Fault::Wire, "a varint of 11 bytes");
    let wide = [0x88, 0x80, 0x80, 0x80, 0x10, 0];
    assert_eq!(fault(&wide), Fault::Wire, "a tag of 33 bits");
    let deep = [[0x0b; 101], [0x0c; 101]].concat();
    assert_eq!(fault(&deep), Fault::Depth);
    assert!(find(Root::SensorView, &deep[1..201]).is_ok());
    assert_eq!(fault(&lidar(&[0x12, 2, 1])), Fault::Wire, "a row beyond its view");
}

#[test]
fn halves_are_rounded_to_nearest_even() {
    for bits in 0..=u16::MAX {
        let value = Half(bits).to_f64();
        let back = Half::from_f64(value);
        assert!(back.0 == bits || (value.is_nan() && back.to_f64().is_nan()), "{bits:04x}");
    }
    // Between each two neighbours, up to 65504 and the infinite.
    for bits in 0..0x7c00 {
        let low = Half(bits).to_f64();
        let high = if bits == 0x7bff { 65536.0 } else { Half(bits + 1).to_f64() };
        let middle = (low + high) / 2.0;
        let even = if bits & 1 == 0 { bits } else { bits + 1 };
        assert_eq!(Half::from_f64(middle).0, even, "the tie after {low}");
        assert_eq!(Half::from_f64(-middle).0, even | 0x8000);
        assert_eq!(Half::from_f64(middle.next_down()).0, bits);
        assert_eq!(Half::from_f64(middle.next_up()).0, bits + 1);
    }
    assert_eq!(Half::from_f64(1e300).0, 0x7c00);
    assert_eq!(Half::from_f64(-1e-300).0, 0x8000);
}
