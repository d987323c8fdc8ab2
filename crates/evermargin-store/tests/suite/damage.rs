//! Damage of every byte of a small closed store: opening either refuses, names the file and changes nothing, or reads
//! exactly the written contents.

use crate::common::{
    DATABASE, Draw, Files, LOG, SEAL, StoreContents, files, open, sample, temporary_directory, write_files,
};
use evermargin_store::{Event, Open, Store};
use std::path::Path;

#[derive(Default, Debug)]
struct Tally {
    refused: usize,
    named: usize,
    without_effect: usize,
}

/// Writes the files and opens the store.
fn open_damaged(
    directory: &Path,
    damaged: &Files,
    contents: &StoreContents,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    write_files(directory, damaged);
    match open(directory) {
        Err(error) => {
            let message = error.to_string();
            let named =
                message.contains(DATABASE) || message.contains(&directory.join(SEAL).display().to_string());
            assert!(named, "{}: {message}", what());
            assert!(files(directory) == *damaged, "{}: refused and changed", what());
            tally.refused += 1;
            tally.named += usize::from(message.contains("event "));
        }
        Ok(mut store) => {
            assert!(StoreContents::of(&store).unwrap() == *contents, "{}: read something else", what());
            tally.without_effect += 1;
            if tally.without_effect < 200 || tally.without_effect.is_multiple_of(16) {
                // The damage has no effect later either.
                let event = Event { kind: "after", body: &[5; 6000] };
                let range = store.append(&[event]).unwrap_or_else(|error| panic!("{}: {error}", what()));
                assert_eq!(range.start, contents.next);
                drop(store);
                assert_eq!(open(directory).unwrap().next_seq(), contents.next + 1, "{}", what());
            }
        }
    }
}

fn flip_all(name: &str, bits: impl Fn(usize, &mut Draw) -> Vec<u32>) -> Tally {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let whole = files(&directory);
    let (mut tally, mut draw) = (Tally::default(), Draw(7));
    let scratch = home.path().join("scratch");
    for at in 0..whole[name].len() {
        for bit in bits(at, &mut draw) {
            let mut damaged = whole.clone();
            damaged.get_mut(name).unwrap()[at] ^= 1 << bit;
            open_damaged(&scratch, &damaged, &contents, &mut tally, &|| {
                format!("{name}, byte {at}, bit {bit}")
            });
        }
    }
    println!("{name}: {tally:?}");
    tally
}

#[test]
fn flipped_bits_of_the_database_are_detected_or_without_effect() {
    let tally =
        flip_all(DATABASE, |at, draw| if at < 100 { (0..8).collect() } else { vec![draw.below(8) as u32] });
    assert!(tally.refused > 5000 && tally.named > 3000, "{tally:?}");
}

#[test]
fn flipped_bits_of_one_half_of_the_seal_are_without_effect() {
    let tally = flip_all(
        SEAL,
        |at, draw| if at % 4096 < 136 { (0..8).collect() } else { vec![draw.below(8) as u32] },
    );
    // The other half of the seal and the database hold the same information.
    assert_eq!(tally.refused, 0, "{tally:?}");
}

#[test]
fn truncated_files_are_refused() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let whole = files(&directory);
    let mut tally = Tally::default();
    for name in [DATABASE, SEAL] {
        for length in 0..whole[name].len() {
            let mut damaged = whole.clone();
            damaged.get_mut(name).unwrap().truncate(length);
            open_damaged(&home.path().join("scratch"), &damaged, &contents, &mut tally, &|| {
                format!("{name} cut to {length}")
            });
        }
    }
    assert_eq!(tally.without_effect, 0, "{tally:?}");
}

#[test]
fn refuses_a_seal_with_two_damaged_halves() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let mut damaged = files(&directory);
    for at in [100, 4196] {
        damaged.get_mut(SEAL).unwrap()[at] ^= 1;
    }
    write_files(&directory, &damaged);
    let message = open(&directory).unwrap_err().to_string();
    assert!(message.contains("seal: neither half of the seal can be read; nothing was changed"), "{message}");
    assert!(files(&directory) == damaged);
}

/// Pages zeroed, duplicated and exchanged.
#[test]
fn zeroed_duplicated_and_exchanged_pages_are_detected_or_without_effect() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let contents = sample(&directory);
    let whole = files(&directory);
    let (pages, mut tally) = (whole[DATABASE].len() / 4096, Tally::default());
    let page = |at: usize| whole[DATABASE][4096 * at..4096 * (at + 1)].to_vec();
    for i in 0..pages {
        for j in 0..=pages {
            let mut damaged = whole.clone();
            let bytes = damaged.get_mut(DATABASE).unwrap();
            bytes[4096 * i..4096 * (i + 1)].copy_from_slice(&if j < pages { page(j) } else { vec![0; 4096] });
            open_damaged(&home.path().join("scratch"), &damaged, &contents, &mut tally, &|| {
                format!("page {i} over by {j}")
            });
            if j < i {
                damaged.get_mut(DATABASE).unwrap()[4096 * j..4096 * (j + 1)].copy_from_slice(&page(i));
                open_damaged(&home.path().join("scratch"), &damaged, &contents, &mut tally, &|| {
                    format!("{i} and {j} exchanged")
                });
            }
        }
    }
    assert!(tally.refused > pages, "{tally:?}");
}

/// Flipped bits and truncations of the log of a store that was not closed.
#[test]
fn flipped_bits_and_truncations_of_the_log_are_detected_or_without_effect() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    let mut store = Store::open(&directory, Open::Create).unwrap();
    crate::common::fill(&mut store);
    let contents = StoreContents::of(&store).unwrap();
    let mut image = files(&directory);
    image.retain(|name, _| [DATABASE, LOG, SEAL].contains(&name.as_str()));
    drop(store);
    let (mut tally, mut draw) = (Tally::default(), Draw(11));
    let scratch = home.path().join("scratch");
    let length = image[LOG].len();
    for at in (0..length).filter(|&at| at < 200 || at % 17 == 0) {
        let mut damaged = image.clone();
        damaged.get_mut(LOG).unwrap()[at] ^= 1 << draw.below(8);
        open_damaged(&scratch, &damaged, &contents, &mut tally, &|| format!("log, byte {at}"));
    }
    assert!(tally.refused > length / 40, "{tally:?}");
    let mut cut = Tally::default();
    for length in (0..length).step_by(29) {
        let mut damaged = image.clone();
        damaged.get_mut(LOG).unwrap().truncate(length);
        open_damaged(&scratch, &damaged, &contents, &mut cut, &|| format!("log cut to {length}"));
    }
    assert_eq!(cut.without_effect, 0, "{cut:?}");
}

/// Reading does not use the list of free pages, but the next write would.
#[test]
fn refuses_a_wrong_list_of_free_pages() {
    let home = temporary_directory();
    let directory = home.path().join("store");
    sample(&directory);
    let mut damaged = files(&directory);
    damaged.get_mut(DATABASE).unwrap()[39] ^= 1;
    write_files(&directory, &damaged);
    let message = open(&directory).unwrap_err().to_string();
    assert!(message.contains("Freelist: size is"), "{message}");
    assert!(files(&directory) == damaged);
}
