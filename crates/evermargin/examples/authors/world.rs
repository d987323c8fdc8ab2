//! The entities that records refer to: institutions, departments and coauthors, without labels and without errors.

use rand::RngExt;
use rand_pcg::Pcg64;

/// City, state and the leading digits of its zip codes.
const CITIES: [(&str, &str, u32); 24] = [
    ("Arlington", "TX", 760),
    ("Boston", "MA", 21),
    ("Boulder", "CO", 803),
    ("Buffalo", "NY", 142),
    ("Charlotte", "NC", 282),
    ("Cleveland", "OH", 441),
    ("Columbia", "SC", 292),
    ("Columbus", "OH", 432),
    ("Dallas", "TX", 752),
    ("Dayton", "OH", 454),
    ("Denver", "CO", 802),
    ("Houston", "TX", 770),
    ("Lansing", "MI", 489),
    ("Lincoln", "NE", 685),
    ("Louisville", "KY", 402),
    ("Memphis", "TN", 381),
    ("Newark", "NJ", 71),
    ("Oakland", "CA", 946),
    ("Portland", "OR", 972),
    ("Princeton", "NJ", 85),
    ("Richmond", "VA", 232),
    ("Rochester", "NY", 146),
    ("San Diego", "CA", 921),
    ("San Jose", "CA", 951),
];

/// Full name, abbreviation, acronym, and subdomain.
const DEPARTMENTS: [(&str, &str, &str, &str); 6] = [
    ("Department of Computer Science", "Dept. of Comp. Sci.", "CS", "cs"),
    ("Department of Electrical Engineering", "Dept. of Elec. Eng.", "EE", "ee"),
    ("Department of Mathematics", "Math. Dept.", "Mathematics", "math"),
    ("Department of Statistics", "Dept. Stat.", "Statistics", "stat"),
    ("School of Information", "School of Inf.", "SI", "info"),
    ("Center for Computational Biology", "Ctr. Comp. Biol.", "CCB", "ccb"),
];

const STREETS: [&str; 10] =
    ["Main", "Campus", "College", "Park", "Oak", "Washington", "University", "Science", "Lake", "Hill"];
const WAYS: [(&str, &str); 4] =
    [("Street", "St."), ("Avenue", "Ave."), ("Drive", "Dr."), ("Boulevard", "Blvd.")];

const FIRST: [&str; 20] = [
    "Peter", "Susan", "Wei", "Robert", "Elena", "Thomas", "Yuki", "Laura", "Ravi", "Paul", "Hans", "Nina",
    "Omar", "Lei", "Frank", "Grace", "Igor", "Stefan", "Victor", "Lisa",
];
const LAST: [&str; 60] = [
    "Brown", "Davis", "Wilson", "Wang", "Li", "Zhang", "Clark", "Lewis", "Lee", "Walker", "Hall", "Young",
    "Singh", "Sharma", "Rossi", "Weber", "Schmidt", "Ivanov", "Novak", "Sato", "Suzuki", "Garcia", "Lopez",
    "Martin", "Dubois", "Larsen", "Cohen", "Kim", "Park", "Nguyen", "Adams", "Baker", "Carter", "Evans",
    "Foster", "Gray", "Hughes", "Jensen", "Keller", "Lang", "Meyer", "Nelson", "Olsen", "Peters", "Quinn",
    "Reed", "Stone", "Turner", "Ueda", "Vogel", "Ward", "Xu", "Yang", "Zimmer", "Bauer", "Conti", "Dietrich",
    "Ferrari", "Haas", "Kowalski",
];

/// A uniformly drawn item.
pub fn pick<'a, T>(rng: &mut Pcg64, items: &'a [T]) -> &'a T {
    &items[rng.random_range(0..items.len())]
}

/// A number below `n`; larger powers favor small numbers, so a few authors write many papers.
pub fn skewed(rng: &mut Pcg64, n: usize, power: f64) -> usize {
    ((rng.random::<f64>().powf(power) * n as f64) as usize).min(n - 1)
}

/// First names with this initial, the common ones first.
pub fn first_names(initial: char) -> [&'static str; 10] {
    match initial {
        'A' => ["Anil", "Amit", "Arun", "Ajay", "Anita", "Ashok", "Anoop", "Alok", "Aarti", "Abhay"],
        'C' => ["Chen", "Chun", "Ching", "Chih", "Chao", "Cheng", "Chien", "Chang", "Catherine", "Charles"],
        'D' => {
            ["David", "Daniel", "Donald", "Diane", "Dennis", "Douglas", "Deborah", "Derek", "Dale", "Dean"]
        }
        'J' => {
            ["John", "James", "Jennifer", "Joseph", "Jeffrey", "Jane", "Jason", "Julia", "Joel", "Jonathan"]
        }
        'K' => ["Kenji", "Kazuo", "Koji", "Keiko", "Katsumi", "Kiyoshi", "Kumiko", "Kaoru", "Ken", "Kei"],
        _ => [
            "Michael", "Mark", "Mary", "Matthew", "Martin", "Maria", "Margaret", "Melissa", "Marcus",
            "Michelle",
        ],
    }
}

/// The spellings of a text.
#[derive(Debug, Clone)]
pub struct Spelling {
    /// Full spelling.
    pub full: String,
    /// Abbreviation.
    pub short: String,
    /// An acronym or another spelling not longer than the abbreviation.
    pub acronym: String,
}

/// A place of work: a department of an institution.
#[derive(Debug, Clone)]
pub struct Place {
    /// The institution.
    pub institution: Spelling,
    /// The department.
    pub department: Spelling,
    /// Street with number, the same for all departments of an institution.
    pub street: Spelling,
    /// City.
    pub city: String,
    /// State and zip code.
    pub state: String,
    /// Domain of the institution.
    pub domain: String,
    /// Subdomain of the department.
    pub subdomain: String,
    /// Members of the department, possible coauthors of anyone there.
    pub people: Vec<String>,
}

/// All places: four institutions per city, all departments in each; consecutive groups of six share an institution.
pub fn places(rng: &mut Pcg64) -> Vec<Place> {
    let institutions = (0..4 * CITIES.len()).map(|i| (CITIES[i / 4], i));
    institutions.flat_map(|(city, i)| institution(rng, city, i)).collect()
}

/// The departments of one institution.
fn institution(rng: &mut Pcg64, (city, state, zip): (&str, &str, u32), i: usize) -> Vec<Place> {
    let (institution, domain) = name_institution(city, i);
    let (way, short) = *pick(rng, &WAYS);
    let (number, street) = (rng.random_range(1..2000), *pick(rng, &STREETS));
    let street = Spelling {
        full: format!("{number} {street} {way}"),
        short: format!("{number} {street} {short}"),
        acronym: format!("{street} {short}"),
    };
    let state = format!("{state} {:05}", zip * 100 + rng.random_range(0..100));
    let place = |&(full, short, acronym, subdomain): &(&str, &str, &str, &str)| Place {
        institution: institution.clone(),
        department: Spelling { full: full.into(), short: short.into(), acronym: acronym.into() },
        street: street.clone(),
        city: city.into(),
        state: state.clone(),
        domain: domain.clone(),
        subdomain: subdomain.into(),
        people: (0..6).map(|_| person(rng)).collect(),
    };
    DEPARTMENTS.iter().map(place).collect()
}

/// Name of the `i`-th institution, in one of four patterns, and its domain.
fn name_institution(city: &str, i: usize) -> (Spelling, String) {
    let letter = city.chars().next().unwrap_or('x');
    let one = city.replace(' ', "").to_lowercase();
    let (full, short, acronym, domain) = match i % 4 {
        0 => (
            format!("University of {city}"),
            format!("Univ. {city}"),
            format!("U{letter}"),
            format!("u{one}.edu"),
        ),
        1 => (
            format!("{city} State University"),
            format!("{city} State Univ."),
            format!("{letter}SU"),
            format!("{one}state.edu"),
        ),
        2 => (
            format!("{city} Institute of Technology"),
            format!("{city} Inst. Tech."),
            format!("{letter}IT"),
            format!("{letter}it.edu").to_lowercase(),
        ),
        _ => (
            format!("{city} Research Laboratories"),
            format!("{city} Res. Labs"),
            format!("{letter}RL"),
            format!("{one}-labs.com"),
        ),
    };
    (Spelling { full, short, acronym }, domain)
}

/// Index of a random place; half of the draws are moved to the computer science department of the institution.
pub fn place(rng: &mut Pcg64, places: &[Place]) -> usize {
    let i = rng.random_range(0..places.len());
    if rng.random_bool(0.5) { i - i % DEPARTMENTS.len() } else { i }
}

/// Full name of a random coauthor.
pub fn person(rng: &mut Pcg64) -> String {
    format!("{} {}", pick(rng, &FIRST), pick(rng, &LAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn departments_of_an_institution_share_its_address() {
        let mut rng = Pcg64::seed_from_u64(1);
        let places = places(&mut rng);
        assert_eq!(places.len(), 96 * 6);
        for department in places.chunks(6) {
            assert!(department.iter().all(|p| p.domain == department[0].domain));
            assert!(department.iter().all(|p| p.state == department[0].state));
        }
        let computing = (0..1000).filter(|_| place(&mut rng, &places).is_multiple_of(6)).count();
        assert!((500..700).contains(&computing), "{computing}");
    }
}
