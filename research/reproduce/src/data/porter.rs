//! Porter's stemmer, which maps words with the same stem to one term.
//!
//! M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, steps 1a to 5b as published, without later changes by
//! its author. A word has the form C(VC)ᵐV in runs of consonants and vowels; most rules remove a suffix only if the measure m of
//! the part before it is large enough. Words are lower case; other characters than letters count as consonants, so numbers do
//! not change.

/// Stem of a word in lower case; words of one or two characters do not change.
pub(super) fn stem(word: &str) -> String {
    let mut w = word.as_bytes().to_vec();
    if w.len() > 2 && word.is_ascii() {
        plural(&mut w);
        past(&mut w);
        if w.ends_with(b"y") && has_vowel(&w[..w.len() - 1]) {
            swap(&mut w, 1, b"i");
        }
        longest(&mut w, DOUBLE, 0);
        longest(&mut w, FULL, 0);
        bare(&mut w);
        last_e(&mut w);
    }
    String::from_utf8(w).unwrap_or_else(|_| word.to_string())
}

/// Step 2: double suffixes.
const DOUBLE: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"abli", b"able"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

/// Step 3: -ic-, -full, -ness.
const FULL: &[(&[u8], &[u8])] = &[
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

/// Step 4: suffixes that are removed.
const BARE: &[(&[u8], &[u8])] = &[
    (b"al", b""),
    (b"ance", b""),
    (b"ence", b""),
    (b"er", b""),
    (b"ic", b""),
    (b"able", b""),
    (b"ible", b""),
    (b"ant", b""),
    (b"ement", b""),
    (b"ment", b""),
    (b"ent", b""),
    (b"ion", b""),
    (b"ou", b""),
    (b"ism", b""),
    (b"ate", b""),
    (b"iti", b""),
    (b"ous", b""),
    (b"ive", b""),
    (b"ize", b""),
];

fn is_consonant(w: &[u8], i: usize) -> bool {
    match w[i] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => i == 0 || !is_consonant(w, i - 1),
        _ => true,
    }
}

/// Measure m: the number of runs of vowels that are followed by a run of consonants.
fn measure(w: &[u8]) -> usize {
    (1..w.len()).filter(|&i| is_consonant(w, i) && !is_consonant(w, i - 1)).count()
}

fn has_vowel(w: &[u8]) -> bool {
    (0..w.len()).any(|i| !is_consonant(w, i))
}

/// The paper's *d: ends with a double consonant.
fn ends_double(w: &[u8]) -> bool {
    let n = w.len();
    n >= 2 && w[n - 1] == w[n - 2] && is_consonant(w, n - 1)
}

/// The paper's *o: ends consonant, vowel, consonant, the last not w, x or y.
fn ends_short(w: &[u8]) -> bool {
    let n = w.len();
    n >= 3
        && is_consonant(w, n - 3)
        && !is_consonant(w, n - 2)
        && is_consonant(w, n - 1)
        && !b"wxy".contains(&w[n - 1])
}

/// Replaces the last `cut` characters.
fn swap(w: &mut Vec<u8>, cut: usize, by: &[u8]) {
    w.truncate(w.len() - cut);
    w.extend_from_slice(by);
}

/// Replaces the longest suffix of the list that the word has, if the measure of the part before it is above `min`.
fn longest(w: &mut Vec<u8>, rules: &[(&[u8], &[u8])], min: usize) {
    let found = rules.iter().filter(|(suffix, _)| w.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len());
    if let Some((suffix, by)) = found
        && measure(&w[..w.len() - suffix.len()]) > min
    {
        swap(w, suffix.len(), by);
    }
}

/// Step 1a.
fn plural(w: &mut Vec<u8>) {
    if w.ends_with(b"sses") || w.ends_with(b"ies") {
        swap(w, 2, b"");
    } else if w.ends_with(b"s") && !w.ends_with(b"ss") {
        swap(w, 1, b"");
    }
}

/// Step 1b.
fn past(w: &mut Vec<u8>) {
    if w.ends_with(b"eed") {
        if measure(&w[..w.len() - 3]) > 0 {
            swap(w, 1, b"");
        }
        return;
    }
    let cut =
        [b"ed".as_slice(), b"ing"].into_iter().find(|suffix| w.ends_with(suffix)).map_or(0, <[u8]>::len);
    if cut == 0 || !has_vowel(&w[..w.len() - cut]) {
        return;
    }
    swap(w, cut, b"");
    if [b"at", b"bl", b"iz"].into_iter().any(|end| w.ends_with(end)) {
        w.push(b'e');
    } else if ends_double(w) && !b"lsz".contains(&w[w.len() - 1]) {
        swap(w, 1, b"");
    } else if measure(w) == 1 && ends_short(w) {
        w.push(b'e');
    }
}

/// Step 4; -ion is removed only after s or t.
fn bare(w: &mut Vec<u8>) {
    if !w.ends_with(b"ion") || w.ends_with(b"sion") || w.ends_with(b"tion") {
        longest(w, BARE, 1);
    }
}

/// Step 5: removes a final e, and one l of a final ll.
fn last_e(w: &mut Vec<u8>) {
    if w.ends_with(b"e") {
        let before = &w[..w.len() - 1];
        let m = measure(before);
        if m > 1 || (m == 1 && !ends_short(before)) {
            swap(w, 1, b"");
        }
    }
    if w.ends_with(b"ll") && measure(w) > 1 {
        swap(w, 1, b"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the paper, with all steps applied (its tables show one step each).
    #[test]
    fn stems_match_the_examples_of_the_paper() {
        let pairs = "caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre \
            plastered plaster bled bled motoring motor sing sing conflated conflat troubled troubl sized size \
            hopping hop tanned tan falling fall hissing hiss fizzed fizz failing fail filing file happy happi \
            sky sky relational relat conditional condit rational ration valenci valenc hesitanci hesit \
            digitizer digit conformabli conform radicalli radic differentli differ vileli vile \
            analogousli analog vietnamization vietnam predication predic operator oper feudalism feudal \
            decisiveness decis hopefulness hope callousness callous formaliti formal sensitiviti sensit \
            sensibiliti sensibl triplicate triplic formative form formalize formal electriciti electr \
            electrical electr hopeful hope goodness good revival reviv allowance allow inference infer \
            airliner airlin gyroscopic gyroscop adjustable adjust defensible defens irritant irrit \
            replacement replac adjustment adjust dependent depend adoption adopt homologou homolog \
            communism commun activate activ angulariti angular homologous homolog effective effect \
            bowdlerize bowdler probate probat rate rate cease ceas controll control roll roll \
            generalizations gener oscillators oscil";
        let words: Vec<&str> = pairs.split_whitespace().collect();
        for pair in words.chunks(2) {
            assert_eq!(stem(pair[0]), pair[1], "{}", pair[0]);
        }
    }

    #[test]
    fn short_words_numbers_and_non_ascii_letters_do_not_change() {
        for word in ["", "a", "is", "1987", "15", "süß", "e"] {
            assert_eq!(stem(word), word);
        }
        assert_eq!(stem("s1es"), "s1e");
    }
}
