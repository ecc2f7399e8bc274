// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import VirtualTags

extension TagImage.Format: ExpressibleByArgument {
    /// The format that the ending of a file's name says.
    init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".nfc") {
            self = .flipper
        } else if name.hasSuffix(".json") || name.hasSuffix(".jsonl") {
            self = .json
        } else {
            return nil
        }
    }
}
