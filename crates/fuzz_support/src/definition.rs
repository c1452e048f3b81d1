//! What must hold for a definition, whoever wrote it.

use wiregauge_formats::{Codec, Support};
use wiregauge_normalized::Unit;
use wiregauge_schema::{
    canonical, describe, estimate, generate, path, prune, Projection, Schema, Sizes, Value,
};

/// Largest message that is made of it, in bytes.
const LARGEST: u128 = 1 << 20;

/// It can be shown and compiled, and a message that is made of it keeps all of
/// it in its canonical form.
pub fn definition(schema: &Schema) {
    assert!(!describe(schema).is_empty());
    if schema.recursive_type().is_some() {
        return;
    }
    let sizes = Sizes { list: 2, text: 3, bytes: 4, ..Sizes::default() };
    let Ok(size) = estimate(schema, &sizes) else { return };
    if size.memory > LARGEST {
        return;
    }
    let Ok(value) = generate(schema, &sizes, 1) else { return };
    message(schema, &value);
    let (fewer, values, _) = prune(schema, std::slice::from_ref(&value));
    message(&fewer, &values[0]);
    let projection = Projection::choose(schema);
    for number in [&projection.fixed, &projection.element].into_iter().flatten() {
        path::parse(schema, &path::display(schema, number)).expect("a path that was chosen");
    }
    for codec in Codec::all() {
        if !matches!(codec.check_schema(schema), Support::Rejected(_)) {
            let emitted = (codec.emit)(&Unit { schema, projection: &projection });
            drop(emitted.map_err(|error| format!("{error:#}")));
        }
    }
}

fn message(schema: &Schema, value: &Value) {
    let bytes = canonical::encode(schema, value).expect("what was made fits its definition");
    assert_eq!(canonical::decode(schema, &bytes).expect("and its bytes are read"), *value);
}
