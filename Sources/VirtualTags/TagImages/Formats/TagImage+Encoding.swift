// SPDX-License-Identifier: Apache-2.0
public import VirtualTags

extension TagImage {
    /// Returns the current image as a file of its format.
    ///
    /// A file that was read keeps its number of pages, even if the tag has more.
    ///
    /// - Throws: ``TagImageError`` with `lossy` when the format can't store everything.
    public func encoded() throws(TagImageError) -> [UInt8] {
        guard let bytes = source?.encoded(contents) ?? format.encoded(new: contents) else {
            throw TagImageError(.lossy, "\(format.name) has no place for such a tag: \(product).")
        }
        // Reading the file again proves that nothing was left out.
        if let source, bytes == source.bytes, contents == source.contents { return bytes }
        guard let again = try? Self.source(bytes, format),
            again.contents.completed(for: format) == contents.completed(for: format)
        else {
            let lost = (try? Self.source(bytes, format)).map {
                contents.completed(for: format).differences(from: $0.contents.completed(for: format))
            }
            let what = lost.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") } ?? "a part of what it holds"
            throw TagImageError(.lossy, "\(format.name) can't hold this \(product) without losing \(what).")
        }
        return bytes
    }
}

extension TagImage.Format {
    /// Returns whether a new file of the format can store a tag without loss.
    public func canHold(_ contents: TagContents) -> Bool {
        (try? TagImage(contents, format: self).encoded()) != nil
    }

    /// Returns a new file; nil when the format does not support this kind of tag.
    func encoded(new contents: TagContents) -> [UInt8]? {
        switch self {
        case .flipper: FlipperFields.encoded(new: contents)
        case .json: JSONImage.encoded(new: contents)
        case .proxmarkJSON: ProxmarkJSON.encoded(new: contents)
        case .proxmarkBinary, .mfd: MemoryDump.encoded(new: contents, format: self)
        case .proxmarkText: ProxmarkText.encoded(new: contents)
        case .tagInfo: nil
        }
    }
}
