//! Views: a header that shows the fields of each record in the bytes of a message.

use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Field, Record, TypeDef, TypeId};

use super::{begin_header, remark, Header, RULES};
use crate::definition::Package;
use crate::names::{Names, Rules};

/// The view's own name, which no field of it may have, and what holders keep free.
const VIEW_RULES: Rules = Rules {
    members: concat!("View wiregauge_wire wiregauge_limits wiregauge_place ", members!()),
    ..RULES
};

/// The names of its types and of what views of them have.
pub fn names(package: &Package) -> Names {
    Names::new(&package.schema, &VIEW_RULES, &package.constant_names())
}

impl Header<'_> {
    /// The header, beside that of the holders in this namespace. No package has a dot in
    /// its name, so that this one is nobody else's.
    pub(super) fn views(&self, namespace: &str) -> File {
        let package = self.package;
        let views =
            Views { header: self, names: names(package), space: format!("::{namespace}::") };
        let mut code = begin_header(package);
        code.line(format!("#include \"{}.hpp\"", package.name));
        code.line("#include \"wiregauge/view.hpp\"\n\nnamespace wiregauge {");
        for id in self.order() {
            if let TypeDef::Record(record) = &self.schema.types[id] {
                code.line("");
                views.view(package, id, record, &mut code);
            }
        }
        code.line("\n}  // namespace wiregauge");
        File::new(format!("{}.view.hpp", package.name), code.finish())
    }
}

struct Views<'a> {
    header: &'a Header<'a>,
    names: Names,
    /// What stands before a holder's name.
    space: String,
}

impl Views<'_> {
    fn view(&self, package: &Package, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let original = &record.name.original;
        let (holder, count) = (self.holder(id), record.fields.len());
        remark(&format!("{original}, in place.\n{}", package.comment(original)), code);
        code.line("template <class wiregauge_wire>");
        code.open(format!("class View<wiregauge_wire, {holder}> {{"));
        code.line("public:");
        if count != 0 {
            let limits: Vec<String> =
                record.fields.iter().map(|field| self.header.limits(record, field)).collect();
            let limits = limits.join(", ");
            code.line(format!(
                "static constexpr wiregauge::Limits wiregauge_limits[{count}] = {{{limits}}};"
            ));
        }
        let place = format!("wiregauge::detail::Place<wiregauge_wire, {holder}>");
        code.line("View() = default;");
        code.line(format!(
            "explicit View(const {place} &place) noexcept : wiregauge_place(place) {{}}\n"
        ));
        for (at, field) in record.fields.iter().enumerate() {
            let member = self.names.member(id, at);
            self.header.remarks(original, member, field, code);
            code.line(format!(
                "{} {member}() const noexcept {{ \
                 return wiregauge::detail::show_field<{at}>(wiregauge_place); }}",
                self.view_type(field)
            ));
        }
        if count != 0 {
            code.line("");
        }
        code.line(format!("{place} wiregauge_place;"));
        code.close("};");
    }

    fn holder(&self, id: TypeId) -> String {
        format!("{}{}", self.space, self.names.type_name(id))
    }

    /// As what a field is shown.
    fn view_type(&self, field: &Field) -> String {
        let one = match field.element {
            Element::String => "std::string_view".into(),
            Element::Bytes => "wiregauge::Numbers<std::uint8_t>".into(),
            Element::Record(id) => format!("wiregauge::View<wiregauge_wire, {}>", self.holder(id)),
            Element::Enum(id) => self.holder(id),
            Element::Scalar(scalar) => scalar.cpp_name().into(),
        };
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::Optional => format!("std::optional<{one}>"),
            Cardinality::List { .. } | Cardinality::Array { .. } => match field.element {
                Element::Scalar(_) | Element::Enum(_) => format!("wiregauge::Numbers<{one}>"),
                Element::Record(id) => {
                    format!("wiregauge::List<wiregauge_wire, {}>", self.holder(id))
                }
                other => {
                    format!("wiregauge::List<wiregauge_wire, {}>", self.header.element(other))
                }
            },
        }
    }
}
