//! Parameters as data: each has a path, a default, a range and a meaning, written once where it is declared.
//!
//! [`parameters!`] declares a group of them, [`choices!`] a choice between named variants, some with parameters of their own. Both
//! generate the type, its default, its JSON, its checks, its entry in `taugraph params`, and access by dotted path.

mod leaf;

pub(crate) use leaf::Leaf;

use serde_json::Value;

use crate::error::{Error, Result};

/// A parameter as people see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Where it is: `graph.estimator.pool`.
    pub path: String,
    /// Its default.
    pub default: Value,
    /// `whole number`, `number`, `list of numbers`, or the names to choose from.
    pub kind: String,
    /// A further restriction on its value; empty if there is none.
    pub range: &'static str,
    /// What it does.
    pub meaning: String,
    /// The choice that it belongs to, as `graph.estimator = community`; `None` if it exists under the defaults.
    pub only_with: Option<String>,
}

/// What a parameter's declaration says about it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    pub meaning: &'a str,
    pub range: &'static str,
    pub only_with: Option<&'a str>,
}

/// A value, or a group of values, that paths can name.
pub(crate) trait ParameterTree {
    /// As JSON, with the names of the paths.
    fn to_json(&self) -> Value;

    /// Sets the parameter at `rest` below `path`, where `path` names this value.
    fn set(&mut self, path: &str, rest: &[&str], value: &Value) -> Result<()>;

    /// Checks that everything is within its range.
    fn check_ranges(&self, path: &str) -> Result<()>;

    /// Adds its parameters to the list.
    fn list(&self, path: &str, about: About<'_>, list: &mut Vec<Parameter>);
}

/// Joins `graph` and `threshold` to `graph.threshold`.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// A JSON value as a person would type it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // 7, not 7.0.
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |number| number.to_string()),
        other => other.to_string(),
    }
}

pub(crate) fn unknown(path: &str, name: &str, known: &[&str]) -> Error {
    let place = if path.is_empty() { "the configuration".to_string() } else { path.to_string() };
    let known = if known.is_empty() { "nothing".to_string() } else { known.join(", ") };
    Error::UnknownParameter { path: join(path, name), place, known }
}

pub(crate) fn refused(path: &str, value: &Value, rule: String) -> Error {
    Error::Parameter { name: path.to_string(), value: shown(value), rule }
}

/// Implements serde's traits through [`ParameterTree`].
macro_rules! json_by_tree {
    ($Type:ty) => {
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                $crate::parameter::ParameterTree::to_json(self).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let mut tree = Self::default();
                $crate::parameter::ParameterTree::set(&mut tree, stringify!($Type), &[], &value)
                    .map_err(serde::de::Error::custom)?;
                Ok(tree)
            }
        }
    };
}

/// Declares a group of parameters: `name: type = default`, followed by `, "rule" => test` if not every value is allowed.
///
/// A parameter is added by adding its line.
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $Group:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $Type:ty = $default:expr $(, $rule:literal => $test:expr)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $Group {
            $(
                $(#[doc = $doc])+
                pub $name: $Type,
            )*
        }

        impl Default for $Group {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $Group {
            /// A changed copy: `params.with(|params| params.threshold = 0.4)`.
            pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
                change(&mut self);
                self
            }
        }

        impl $crate::parameter::ParameterTree for $Group {
            fn to_json(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $(map.insert(stringify!($name).into(), $crate::parameter::ParameterTree::to_json(&self.$name));)*
                map.into()
            }

            fn set(&mut self, path: &str, rest: &[&str], value: &serde_json::Value) -> $crate::error::Result<()> {
                use $crate::parameter::{join, refused, unknown};
                if let Some((name, rest)) = rest.split_first() {
                    let name = name.replace('-', "_");
                    let below = join(path, &name);
                    return match name.as_str() {
                        $(stringify!($name) => $crate::parameter::ParameterTree::set(&mut self.$name, &below, rest, value),)*
                        _ => Err(unknown(path, &name, &[$(stringify!($name)),*])),
                    };
                }
                let serde_json::Value::Object(map) = value else {
                    let names: &[&str] = &[$(stringify!($name)),*];
                    return Err(refused(path, value, format!("is a group; set one of {}", names.join(", "))));
                };
                for (name, value) in map {
                    let names: Vec<&str> = name.split('.').collect();
                    self.set(path, &names, value)?;
                }
                Ok(())
            }

            fn check_ranges(&self, path: &str) -> $crate::error::Result<()> {
                $(
                    let below = $crate::parameter::join(path, stringify!($name));
                    $(
                        let test: fn(&$Type) -> bool = $test;
                        if !test(&self.$name) {
                            let value = $crate::parameter::ParameterTree::to_json(&self.$name);
                            return Err($crate::parameter::refused(&below, &value, concat!("must be ", $rule).into()));
                        }
                    )?
                    $crate::parameter::ParameterTree::check_ranges(&self.$name, &below)?;
                )*
                let _ = path;
                Ok(())
            }

            fn list(
                &self,
                path: &str,
                about: $crate::parameter::About<'_>,
                list: &mut Vec<$crate::parameter::Parameter>,
            ) {
                $(
                    let meaning = concat!($($doc),+);
                    let range = concat!($($rule)?);
                    let about = $crate::parameter::About { meaning, range, only_with: about.only_with };
                    let below = $crate::parameter::join(path, stringify!($name));
                    $crate::parameter::ParameterTree::list(&self.$name, &below, about, list);
                )*
                let _ = (path, about, list);
            }
        }

        $crate::parameter::json_by_tree!($Group);
    };
}

/// Declares a choice: `"name" => Variant`, `"name" => Variant { parameters as in a group }` or
/// `"name" => Variant(settings: Group)`; the default follows the name of the enum.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $Choice:ident = $default:literal {
            $(
                $(#[doc = $doc:literal])+
                $name:literal => $Variant:ident
                $({
                    $(
                        $(#[doc = $field_doc:literal])+
                        $field:ident: $Type:ty = $field_default:expr $(, $rule:literal => $test:expr)?;
                    )+
                })?
                $(($inner:ident: $Inner:ty))?,
            )+
        }
    ) => {
        $(#[$meta])*
        pub enum $Choice {
            $(
                $(#[doc = $doc])+
                $Variant $({ $($(#[doc = $field_doc])+ $field: $Type,)+ })? $(($Inner))?,
            )+
        }

        impl Default for $Choice {
            fn default() -> Self {
                Self::named($default).expect("the default is one of the names")
            }
        }

        impl $Choice {
            /// Every name.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Every choice, with its default parameters.
            pub fn all() -> impl Iterator<Item = Self> {
                Self::NAMES.iter().filter_map(|name| Self::named(name))
            }

            /// The choice of this name, with its default parameters.
            pub fn named(name: &str) -> Option<Self> {
                match name.replace('_', "-").as_str() {
                    $($name => Some(Self::$Variant $({ $($field: $field_default),+ })? $((<$Inner>::default()))?),)+
                    _ => None,
                }
            }

            /// Its name on the command line, in Python and in JSON.
            #[allow(unused_variables)]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant $({ $($field),+ })? $(($inner))? => $name,)+
                }
            }

            /// Names of the variants that have a parameter of this name.
            #[allow(dead_code, unused_variables, unused_mut)]
            fn with_parameter(name: &str) -> Vec<&'static str> {
                let mut found = Vec::new();
                $(
                    $( if [$(stringify!($field)),+].contains(&name) { found.push($name); } )?
                    $(
                        let below = $crate::parameter::ParameterTree::to_json(&<$Inner>::default());
                        if below.get(name).is_some() { found.push($name); }
                    )?
                )+
                found
            }
        }

        impl $crate::parameter::ParameterTree for $Choice {
            #[allow(unused_mut)]
            fn to_json(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                map.insert("kind".into(), self.name().into());
                match self {
                    $(Self::$Variant $({ $($field),+ })? $(($inner))? => {
                        $($(map.insert(stringify!($field).into(), $crate::parameter::ParameterTree::to_json($field));)+)?
                        $(
                            if let serde_json::Value::Object(below) = $crate::parameter::ParameterTree::to_json($inner) {
                                map.extend(below);
                            }
                        )?
                    })+
                }
                if map.len() == 1 { self.name().into() } else { map.into() }
            }

            fn set(&mut self, path: &str, rest: &[&str], value: &serde_json::Value) -> $crate::error::Result<()> {
                use serde_json::Value;
                use $crate::parameter::{refused, unknown};
                let rest = if rest == ["kind"] { &[] } else { rest };
                if let Some(&name) = rest.first() {
                    let name = name.replace('-', "_");
                    #[allow(unused_variables)]
                    match self {
                        $(Self::$Variant $({ $($field),+ })? $(($inner))? => {
                            $(
                                let below = $crate::parameter::join(path, &name);
                                match name.as_str() {
                                    $(stringify!($field) => return $crate::parameter::ParameterTree::set($field, &below, &rest[1..], value),)+
                                    _ => {}
                                }
                            )?
                            $(
                                let known = $crate::parameter::ParameterTree::to_json($inner);
                                if known.get(&name).is_some() {
                                    return $crate::parameter::ParameterTree::set($inner, path, rest, value);
                                }
                            )?
                        })+
                    }
                    let others = Self::with_parameter(&name);
                    if !others.is_empty() {
                        return Err($crate::error::Error::ParameterOfOther {
                            path: $crate::parameter::join(path, &name),
                            choice: path.to_string(),
                            chosen: self.name().to_string(),
                            others: others.join(" or "),
                        });
                    }
                    let known = $crate::parameter::ParameterTree::to_json(self);
                    let known: Vec<&str> = known.as_object().map_or(Vec::new(), |map| {
                        map.keys().map(String::as_str).collect()
                    });
                    return Err(unknown(path, &name, &known));
                }
                match value {
                    Value::String(name) => {
                        // Choosing the same variant again keeps its parameters.
                        if name.replace('_', "-") != self.name() {
                            *self = Self::named(name).ok_or_else(|| {
                                refused(path, value, format!("must be {}", $crate::parameter::listed(Self::NAMES)))
                            })?;
                        }
                        Ok(())
                    }
                    Value::Object(map) => {
                        if let Some(kind) = map.get("kind") {
                            self.set(path, &[], kind)?;
                        }
                        for (name, value) in map.iter().filter(|(name, _)| *name != "kind") {
                            let names: Vec<&str> = name.split('.').collect();
                            self.set(path, &names, value)?;
                        }
                        Ok(())
                    }
                    _ => Err(refused(path, value, format!("must be {}", $crate::parameter::listed(Self::NAMES)))),
                }
            }

            #[allow(unused_variables)]
            fn check_ranges(&self, path: &str) -> $crate::error::Result<()> {
                match self {
                    $(Self::$Variant $({ $($field),+ })? $(($inner))? => {
                        $($(
                            let below = $crate::parameter::join(path, stringify!($field));
                            $(
                                let test: fn(&$Type) -> bool = $test;
                                if !test($field) {
                                    let value = $crate::parameter::ParameterTree::to_json($field);
                                    return Err($crate::parameter::refused(&below, &value, concat!("must be ", $rule).into()));
                                }
                            )?
                            $crate::parameter::ParameterTree::check_ranges($field, &below)?;
                        )+)?
                        $($crate::parameter::ParameterTree::check_ranges($inner, path)?;)?
                    })+
                }
                Ok(())
            }

            #[allow(unused_variables, irrefutable_let_patterns)]
            fn list(
                &self,
                path: &str,
                about: $crate::parameter::About<'_>,
                list: &mut Vec<$crate::parameter::Parameter>,
            ) {
                let variants: &[(&str, &str)] = &[$(($name, concat!($($doc),+))),+];
                list.push($crate::parameter::chosen(path, self.name(), variants, about));
                $(
                    let variant = Self::named($name).expect("it is one of the names");
                    // The chosen variant with its own values, the others with their defaults.
                    let variant = if self.name() == $name { self } else { &variant };
                    let condition = (self.name() != $name).then(|| format!("{path} = {}", $name));
                    let only_with = condition.as_deref().or(about.only_with);
                    if let Self::$Variant $({ $($field),+ })? $(($inner))? = variant {
                        $($(
                            let about = $crate::parameter::About {
                                meaning: concat!($($field_doc),+),
                                range: concat!($($rule)?),
                                only_with,
                            };
                            let below = $crate::parameter::join(path, stringify!($field));
                            $crate::parameter::ParameterTree::list($field, &below, about, list);
                        )+)?
                        $(
                            let about = $crate::parameter::About { only_with, ..about };
                            $crate::parameter::ParameterTree::list($inner, path, about, list);
                        )?
                    }
                )+
            }
        }

        $crate::parameter::json_by_tree!($Choice);
    };
}

pub(crate) use {choices, json_by_tree, parameters};

/// `a, b or c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The entry of the choice itself: its meaning and that of each name.
pub(crate) fn chosen(path: &str, name: &str, variants: &[(&str, &str)], about: About<'_>) -> Parameter {
    let names: Vec<&str> = variants.iter().map(|variant| variant.0).collect();
    let each: Vec<String> =
        variants.iter().map(|(name, doc)| format!("{name}: {}", doc.trim().trim_end_matches('.'))).collect();
    Parameter {
        path: path.to_string(),
        default: name.into(),
        kind: names.join(" | "),
        range: about.range,
        meaning: format!("{} ({})", about.meaning.trim().trim_end_matches('.'), each.join("; ")),
        only_with: about.only_with.map(str::to_string),
    }
}
