//! What the shipped packs hold, and how a wrong pack is refused.

use super::PackSet;

#[test]
fn the_shipped_packs_hold_the_types_of_the_three_domains() {
    let packs = PackSet::builtin();
    let of = |name: &str| packs.only(&[name]).types().len();
    assert_eq!((of("netbox"), of("sdelements"), of("workflow")), (21, 6, 1));
}
