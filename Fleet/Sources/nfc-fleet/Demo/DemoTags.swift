// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import TagImages
import VirtualTags

/// The demo's tags: image files in the virtual reader's folder.
struct DemoTags {
    let folder: String

    /// Places a tag on the reader.
    ///
    /// - Parameters:
    ///   - number: the tag's number.
    ///   - link: the link stored on the tag; nil for an empty tag.
    func bring(_ number: UInt8, link: String?) throws {
        var contents = Type2Contents(blank: .ntag213, uid: [0x04, 0xE1, 0x5A, number, 0x71, 0xFA, 0x80])
        if let link {
            let message = try NDEFMessage([.uri(link)]).encoded()
            // Follows the factory's lock control TLV (NTAG213/215/216 data sheet, 8.5.3).
            let bytes = [0x03, UInt8(message.count)] + message + [0xFE]
            contents.memory.replaceSubrange(21..<21 + bytes.count, with: bytes)
        }
        let image = try TagImage(contents).encoded()
        // Renamed when complete, so that the reader never sees a partial file.
        let hidden = "\(folder)/.tag-\(number).new"
        try Data(image).write(to: URL(fileURLWithPath: hidden))
        guard unsafe rename(hidden, path(number)) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Takes a tag off the reader.
    func remove(_ number: UInt8) { _ = unsafe unlink(path(number)) }

    private func path(_ number: UInt8) -> String { "\(folder)/tag-\(number).json" }
}
