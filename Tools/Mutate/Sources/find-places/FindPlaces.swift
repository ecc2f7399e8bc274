// SPDX-License-Identifier: Apache-2.0
import Foundation
import Planting

/// Prints what can be planted in Swift files: one JSON object a file. `dev/mutate` starts it.
///
/// The names of the files come on standard input, one a line.
@main
struct FindPlaces {
    /// What is printed for a file.
    struct Line: Encodable {
        var file: String
        var places: [Place]
        var skipped: Int
        /// The lines of comments that skip a place and give no reason.
        var skips_without_reason: [Int]
    }

    static func main() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        while let file = readLine() {
            let found = SourcePlaces(source: try String(contentsOfFile: file, encoding: .utf8))
            let line = Line(
                file: file,
                places: found.places,
                skipped: found.skipped,
                skips_without_reason: found.skipsWithoutReason
            )
            print(String(decoding: try encoder.encode(line), as: UTF8.self))
        }
    }
}
