//! The syntax of the parameters `views` and `kernels`, independent of the data.

/// Whether a text lists the columns of views, for any number of columns. Column names may replace numbers; a caller with
/// the header resolves them.
pub(super) fn is_view_list(text: &str) -> bool {
    let number = |text: &str| text.parse::<usize>().ok().filter(|column| *column > 0);
    let column = |text: &str| number(text).is_some() || !(text.is_empty() || text.parse::<f64>().is_ok());
    let range = |text: &str| {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let (first, last) = (first.trim(), last.trim());
        let ordered = number(first).zip(number(last)).is_none_or(|(first, last)| first <= last);
        column(first) && column(last) && ordered
    };
    text.split([';', ',']).all(range)
}

/// Whether a text has the syntax of kernels of views, for any number of views.
pub(super) fn is_kernel_list(text: &str) -> bool {
    let width = |gamma: &str| gamma.parse::<f64>().is_ok_and(|g| g > 0.0 && g.is_finite());
    let one = |word: &str| match word.split_once('=') {
        None => word == "linear" || word == "rbf",
        Some((name, gamma)) => name == "rbf" && width(gamma),
    };
    text == "same" || text.split(';').map(str::trim).all(one)
}
