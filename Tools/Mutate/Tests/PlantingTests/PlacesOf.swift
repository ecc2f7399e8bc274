// SPDX-License-Identifier: Apache-2.0
import Planting

/// The places of a kind in a body of a function, as "before → after".
func mutants(_ kind: Place.Kind, in body: String, of signature: String = "func f()") -> [String] {
    places(in: body, of: signature).filter { $0.kind == kind }.map { "\($0.before) → \($0.after)" }
}

/// All places in a body of a function.
func places(in body: String, of signature: String = "func f()") -> [Place] {
    SourcePlaces(source: "\(signature) {\n\(body)\n}\n").places
}

/// The source with a place replaced, as mutant 7.
func planted(_ place: Place, in source: String) -> String {
    let bytes = Array(source.utf8)
    let replacement = place.replacement.split(separator: Place.number, omittingEmptySubsequences: false).joined(
        separator: "7"
    )
    return String(decoding: bytes[..<place.start] + Array(replacement.utf8) + bytes[place.end...], as: UTF8.self)
}
