// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of conformance images, a line an image.
enum Vectors {
    /// The lines of a file; none where it can't be read.
    static func lines(_ name: String) -> [Substring] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/\(name)")
        return ((try? String(contentsOf: path, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    /// The images of a file that can be read.
    static func images<Image: Decodable>(_ name: String) -> [Image] {
        lines(name).compactMap { try? JSONDecoder().decode(Image.self, from: Data($0.utf8)) }
    }
}
