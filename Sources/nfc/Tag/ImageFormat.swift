// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import VirtualTags

extension TagImage.Format: ExpressibleByArgument {
    /// The format that the ending of a file's name says.
    init?(path: String) {
        let endings: [(String, TagImage.Format)] = [
            (".nfc", .flipper), (".json", .json), (".jsonl", .json), (".bin", .proxmarkBinary), (".mfd", .mfd),
            (".xml", .tagInfo),
        ]
        let name = path.lowercased()
        guard let format = endings.first(where: { name.hasSuffix($0.0) })?.1 else { return nil }
        self = format
    }
}
