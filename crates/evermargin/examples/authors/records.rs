//! Generated author records: the author of a paper as printed on its first page, with the true author.
//!
//! Ten ambiguous names as in table 3.4 of Ertekin 2009 (last name and first initial, numbers of records and authors),
//! scaled. Authors move between places, share places and first names with others of the same name, and write with the
//! same coauthors. Records have the errors of pages read by machine: abbreviations, wrong letters, and attributes that
//! are missing or taken from the author in the next column.

use crate::world::{Place, Spelling, first_names, person, pick, place, places, skewed};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

/// A name shared by several people.
#[derive(Debug, Clone, Copy)]
pub struct Ambiguous {
    /// Its number in table 3.4.
    pub id: usize,
    /// First initial.
    pub initial: char,
    /// Last name.
    pub last: &'static str,
    /// Number of records in the table.
    pub records: usize,
    /// Number of authors in the table.
    pub authors: usize,
}

const fn name(id: usize, initial: char, last: &'static str, records: usize, authors: usize) -> Ambiguous {
    Ambiguous { id, initial, last, records, authors }
}

/// Table 3.4.
pub const NAMES: [Ambiguous; 10] = [
    name(1, 'A', "Gupta", 506, 44),
    name(2, 'A', "Kumar", 143, 36),
    name(3, 'C', "Chen", 536, 103),
    name(4, 'D', "Johnson", 350, 41),
    name(5, 'J', "Anderson", 327, 43),
    name(6, 'J', "Robinson", 115, 30),
    name(7, 'J', "Smith", 743, 86),
    name(8, 'K', "Tanaka", 53, 20),
    name(9, 'M', "Jones", 352, 53),
    name(10, 'M', "Miller", 230, 34),
];

/// One occurrence of an author on a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Index of the true author, unique over all names. For training and scoring only.
    pub author: usize,
    /// The name as printed.
    pub name: String,
    /// Department and institution.
    pub affiliation: Option<String>,
    /// Street and city.
    pub address: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Home page.
    pub url: Option<String>,
    /// Names of the other authors of the paper; `None` if there are none.
    pub coauthors: Option<String>,
}

/// A period at one place.
struct Stay {
    place: usize,
    email: String,
    url: String,
}

/// An author.
struct Author {
    id: usize,
    first: &'static str,
    middle: Option<char>,
    last: &'static str,
    stays: Vec<Stay>,
    people: Vec<String>,
}

/// All records in random order; the same for the same scale and seed.
pub fn generate(scale: f64, seed: u64) -> Vec<Record> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let places = places(&mut rng);
    let mut records = Vec::new();
    let (mut next, mut taken) = (0, BTreeSet::new());
    for name in &NAMES {
        let count = |n: usize| ((n as f64 * scale).round() as usize).max(2);
        let authors: Vec<Author> =
            (0..count(name.authors)).map(|i| author(&mut rng, next + i, name, &places, &mut taken)).collect();
        next += authors.len();
        for i in 0..count(name.records).max(authors.len()) {
            let who = if i < authors.len() { i } else { skewed(&mut rng, authors.len(), 2.0) };
            records.push(record_of(&mut rng, &authors[who], &places));
        }
    }
    records.shuffle(&mut rng);
    records
}

/// An author whose e-mail addresses are unique.
fn author(
    rng: &mut Pcg64,
    id: usize,
    name: &Ambiguous,
    places: &[Place],
    taken: &mut BTreeSet<String>,
) -> Author {
    let first = first_names(name.initial)[skewed(rng, 10, 1.3)];
    let middle = rng.random_bool(0.5).then(|| char::from(b'A' + rng.random_range(0..20)));
    let style = rng.random_range(0..5);
    let own = rng.random_bool(0.2).then(|| format!("http://www.{}.org", user(1, first, middle, name.last)));
    let stays = (0..[1, 1, 1, 2, 2, 3][rng.random_range(0..6)]).map(|_| {
        let place = place(rng, places);
        let style = if rng.random_bool(0.7) { style } else { rng.random_range(0..5) };
        let Place { domain, subdomain, .. } = &places[place];
        let mut user = user(style, first, middle, name.last);
        while !taken.insert(format!("{user}@{domain}")) {
            user.push(char::from(b'1' + rng.random_range(0..9)));
        }
        let host = if rng.random_bool(0.6) { format!("{subdomain}.{domain}") } else { domain.clone() };
        let url = own.clone().unwrap_or_else(|| format!("http://www.{subdomain}.{domain}/~{user}"));
        Stay { place, email: format!("{user}@{host}"), url }
    });
    let stays = stays.collect();
    Author { id, first, middle, last: name.last, stays, people: (0..4).map(|_| person(rng)).collect() }
}

/// Local part of an e-mail address.
fn user(style: usize, first: &str, middle: Option<char>, last: &str) -> String {
    let initial = &first[..1];
    let middle = middle.map_or(String::new(), String::from);
    let user = match style {
        0 => format!("{initial}{last}"),
        1 => format!("{first}.{last}"),
        2 => last.to_string(),
        3 => first.to_string(),
        _ => format!("{initial}{middle}{}", &last[..1]),
    };
    user.to_lowercase()
}

/// A record of an author, with errors.
fn record_of(rng: &mut Pcg64, author: &Author, places: &[Place]) -> Record {
    let stay = pick(rng, &author.stays);
    let place = &places[stay.place];
    // the page has columns: occasionally the place of the next author is read
    let printed_place = if rng.random_bool(0.02) { pick(rng, places) } else { place };
    // papers appear after their authors have moved: contact data may belong to another period
    let contact = if rng.random_bool(0.15) { pick(rng, &author.stays) } else { stay };
    Record {
        author: author.id,
        name: printed_name(rng, author),
        affiliation: rng.random_bool(0.9).then(|| affiliation(rng, printed_place)),
        address: rng.random_bool(0.7).then(|| address(rng, printed_place)),
        email: rng.random_bool(0.7).then(|| typo(rng, &contact.email, 0.05)),
        url: rng.random_bool(0.3).then(|| typo(rng, &contact.url, 0.05)),
        coauthors: coauthors(rng, author, place),
    }
}

fn printed_name(rng: &mut Pcg64, author: &Author) -> String {
    let first = if rng.random_bool(0.35) {
        format!("{}.", &author.first[..1])
    } else {
        typo(rng, author.first, 0.05)
    };
    match author.middle.filter(|_| rng.random_bool(0.6)) {
        Some(middle) => format!("{first} {middle}. {}", author.last),
        None => format!("{first} {}", author.last),
    }
}

/// A random spelling, possibly with a typo.
fn spell(rng: &mut Pcg64, spelling: &Spelling) -> String {
    let text = match rng.random_range(0..10) {
        0..6 => &spelling.full,
        6..9 => &spelling.short,
        _ => &spelling.acronym,
    };
    typo(rng, text, 0.05)
}

fn affiliation(rng: &mut Pcg64, place: &Place) -> String {
    let institution = spell(rng, &place.institution);
    match rng.random_range(0..10) {
        0..6 => format!("{}, {institution}", spell(rng, &place.department)),
        6 => spell(rng, &place.department),
        _ => institution,
    }
}

fn address(rng: &mut Pcg64, place: &Place) -> String {
    let street = rng.random_bool(0.5).then(|| spell(rng, &place.street));
    let city = Some(typo(rng, &place.city, 0.05));
    let state = rng.random_bool(0.7).then(|| place.state.clone());
    let country = rng.random_bool(0.4).then(|| "USA".to_string());
    [street, city, state, country].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Up to four coauthors: members of the place, regular coauthors of the author, and others.
fn coauthors(rng: &mut Pcg64, author: &Author, place: &Place) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for _ in 0..rng.random_range(0..5) {
        let name = match rng.random_range(0..10) {
            0..5 => pick(rng, &author.people).clone(),
            5..8 => pick(rng, &place.people).clone(),
            _ => person(rng),
        };
        let (first, last) = name.split_once(' ').unwrap_or(("", &name));
        names.push(if rng.random_bool(0.5) {
            format!("{}. {last}", &first[..1])
        } else {
            typo(rng, &name, 0.05)
        });
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// With this probability one letter after the first is replaced, left out or swapped with the next.
fn typo(rng: &mut Pcg64, text: &str, probability: f64) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    if letters.len() > 2 && rng.random_bool(probability) {
        let at = rng.random_range(1..letters.len() - 1);
        match rng.random_range(0..3) {
            0 => letters[at] = char::from(b'a' + rng.random_range(0..26)),
            1 => drop(letters.remove(at)),
            _ => letters.swap(at, at + 1),
        }
    }
    letters.into_iter().collect()
}

/// Blocking: only records with the same last name and first initial are compared.
pub fn blocks(records: Vec<Record>) -> BTreeMap<String, Vec<Record>> {
    let mut blocks: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in records {
        blocks.entry(key(&record.name)).or_default().push(record);
    }
    blocks
}

/// Blocking key, for example "J. Smith" for "John A. Smith".
pub fn key(name: &str) -> String {
    let last = name.split_whitespace().last().unwrap_or_default();
    let initial = name.chars().next().unwrap_or('?').to_uppercase();
    format!("{initial}. {last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_depend_on_the_seed_only() {
        assert_eq!(generate(0.1, 7), generate(0.1, 7));
        assert_ne!(generate(0.1, 7), generate(0.1, 8));
    }

    #[test]
    fn blocks_have_the_names_and_sizes_of_the_table() {
        let blocks = blocks(generate(1.0, 1));
        assert_eq!(blocks.len(), NAMES.len());
        for name in &NAMES {
            let block = &blocks[&format!("{}. {}", name.initial, name.last)];
            let mut authors: Vec<usize> = block.iter().map(|r| r.author).collect();
            authors.sort_unstable();
            authors.dedup();
            assert_eq!((block.len(), authors.len()), (name.records, name.authors), "{}", name.last);
        }
    }

    #[test]
    fn keys_contain_only_initial_and_last_name() {
        for name in ["John A. Smith", "J. Smith", "J. A. Smith", "jane Smith"] {
            assert_eq!(key(name), "J. Smith");
        }
    }

    #[test]
    fn typos_change_at_most_two_letters_and_never_the_first() {
        let mut rng = Pcg64::seed_from_u64(3);
        for _ in 0..200 {
            let wrong = typo(&mut rng, "Jennifer", 1.0);
            assert!(wrong.starts_with('J') && strsim::levenshtein("Jennifer", &wrong) <= 2, "{wrong}");
            assert_eq!(typo(&mut rng, "Jennifer", 0.0), "Jennifer");
        }
    }
}
