//! The rows: each wire in the languages that write it.

use wiregauge_data_holders::Wire;

use super::{check_type, cpp, cpp_views, java, python, rust, rust_views};

/// Name and title of a row, by the module that emits it.
macro_rules! names {
    (cpp $format:literal $title:literal) => {
        (concat!("generated-", $format, "-cpp"), concat!($title, " C++ generated"))
    };
    (cpp_views $format:literal $title:literal) => {
        (concat!("generated-", $format, "-view-cpp"), concat!($title, " C++ generated view"))
    };
    (java $format:literal $title:literal) => {
        (concat!("generated-", $format, "-java"), concat!($title, " Java generated"))
    };
    (python $format:literal $title:literal) => {
        (concat!("generated-", $format, "-python"), concat!($title, " Python generated"))
    };
    (rust $format:literal $title:literal) => {
        (concat!("generated-", $format, "-rust"), concat!($title, " Rust generated"))
    };
    (rust_views $format:literal $title:literal) => {
        (concat!("generated-", $format, "-view-rust"), concat!($title, " Rust generated view"))
    };
}

/// The calls of a row that are timed. `$wire` is also the wire's type in C++ and Rust,
/// `$constant` what Java calls it, `$method` what Python's methods end in.
macro_rules! calls {
    (cpp Protobuf $constant:literal $method:literal) => {
        &[
            "encode: wiregauge::protobuf::serialize(message, buffer, room, bytes), again where \
             there is no room",
            "decode, project, fixed, element: wiregauge::protobuf::deserialize(data, bytes, message)",
        ]
    };
    (cpp $wire:ident $constant:literal $method:literal) => {
        &[
            concat!(
                "encode: wiregauge::serialize<",
                stringify!($wire),
                ">(message, buffer, room, bytes), again where there is no room"
            ),
            concat!(
                "decode, project, fixed, element: wiregauge::deserialize<",
                stringify!($wire),
                ">(data, bytes, message)"
            ),
        ]
    };
    (cpp_views $wire:ident $constant:literal $method:literal) => {
        &[
            concat!(
                "encode: wiregauge::serialize<",
                stringify!($wire),
                ">(message, buffer, room, bytes), again where there is no room"
            ),
            "decode: wiregauge::check(data, bytes, view); wiregauge::to_holder(view, message)",
            "project, fixed, element: the same check, then the view's methods on the way; list[i], \
             or through it",
            "verify: wiregauge::check(data, bytes, view)",
        ]
    };
    (java Protobuf $constant:literal $method:literal) => {
        &[
            "encode: Protobuf.serialize(message, buffer)",
            "decode, project, fixed, element: Protobuf.deserialize(buffer, new Message())",
        ]
    };
    (java $wire:ident $constant:literal $method:literal) => {
        &[
            concat!("encode: Wire.", $constant, ".serialize(message, buffer)"),
            concat!(
                "decode, project, fixed, element: Wire.",
                $constant,
                ".deserialize(buffer, new Message())"
            ),
        ]
    };
    (python Protobuf $constant:literal $method:literal) => {
        &[
            "encode: message.serialize_protobuf()",
            "decode, project, fixed, element: Message.deserialize_protobuf(bytes)",
        ]
    };
    (python $wire:ident $constant:literal $method:literal) => {
        &[
            concat!("encode: message.serialize_", $method, "()"),
            concat!("decode: Message.deserialize_", $method, "(bytes)"),
            concat!(
                "project, fixed, element: Message.deserialize_",
                $method,
                "(bytes, view=True)"
            ),
        ]
    };
    (rust Protobuf $constant:literal $method:literal) => {
        &[
            "encode: wiregauge_protobuf::serialize(&message, &mut out)",
            "decode, project, fixed, element: wiregauge_protobuf::deserialize_into(bytes, &mut \
             message)",
        ]
    };
    (rust $wire:ident $constant:literal $method:literal) => {
        &[
            concat!(
                "encode: wiregauge::serialize::<",
                stringify!($wire),
                ", _>(&message, &mut out)"
            ),
            concat!(
                "decode, project, fixed, element: wiregauge::deserialize_into::<",
                stringify!($wire),
                ", _>(bytes, &mut message)"
            ),
        ]
    };
    (rust_views $wire:ident $constant:literal $method:literal) => {
        &[
            concat!(
                "encode: wiregauge::serialize::<",
                stringify!($wire),
                ", _>(&message, &mut out)"
            ),
            concat!(
                "decode: wiregauge::check::<",
                stringify!($wire),
                ", Message>(bytes)?.fill_holder(&mut message)"
            ),
            "project, fixed, element: the same check, then the view's methods on the way; \
             list.iter().nth(i)",
            concat!("verify: wiregauge::check::<", stringify!($wire), ", Message>(bytes)"),
        ]
    };
}

/// Submits the codecs of a table: a wire a line, with the modules that emit its rows.
macro_rules! rows {
    ($(
        $wire:ident $format:literal $title:literal $constant:literal $method:literal:
        $($module:ident)*;
    )*) => {
        $($(
            inventory::submit! {
                $module::CODE.codec(
                    names!($module $format $title),
                    $format,
                    calls!($module $wire $constant $method),
                    |schema, id| check_type(Wire::$wire, schema, id),
                    |unit| $module::emit(Wire::$wire, unit),
                )
            }
        )*)*
    };
}

rows! {
    RosMsg "ros-msg" "ROS 1 MSG" "ROS_MSG" "ros_msg": cpp cpp_views java python rust rust_views;
    Cdr "cdr" "CDR" "CDR" "cdr": cpp cpp_views java python rust rust_views;
    Xcdr2 "xcdr2" "XCDR2" "XCDR2" "xcdr2": cpp cpp_views java rust rust_views;
    SomeIp "someip" "SOME/IP" "SOMEIP" "someip": cpp java python rust;
    Protobuf "protobuf" "Protobuf" "" "": cpp java python rust;
}
