// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import Foundation
import TagLink
public import VirtualTags

/// An image of a tag in a file, or one of several that are lines of a file.
struct ImageFile: Sendable {
    private let path: String
    private let hasSeveral: Bool
    private let image: TagImage

    /// Reads an image.
    ///
    /// - Parameters:
    ///   - path: the file's path.
    ///   - id: the `id` of the image, where the file has several; nil for the first.
    init(path: String, id: String?) throws(CommandFailure) {
        self.path = path
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure(.refused, "unreadable-file", "\(path) can't be read. Check its name and its owner.")
        }
        let lines = Self.jsonLines(data)
        hasSeveral = lines.count > 1
        let chosen = Self.choose(id, from: lines)
        if let id, chosen == nil {
            throw CommandFailure(.usage, "unknown-id", "\(path) has no image with the id '\(id)'.")
        }
        do throws(TagImageError) {
            image = try TagImage(parsing: [UInt8](hasSeveral ? chosen ?? data : data), as: TagImage.Format(path: path))
        } catch {
            let place = error.line.map { "line \($0): " } ?? ""
            throw CommandFailure(.refused, error.code.description, "\(path): \(place)\(error.reason)")
        }
    }

    var product: String { image.product }

    /// The format of the file.
    var format: TagImage.Format { image.format }

    /// What the tag holds.
    var contents: TagContents { image.contents }

    func makeTag() -> any VirtualTag { image.makeTag() }

    /// The file that the tag is saved to.
    ///
    /// - Parameter out: the file of the person's choice; the image's own when nil.
    func path(_ out: String?) -> String { out ?? path }

    /// Makes sure, before any work is done, that the image may be saved.
    func checkTarget(_ out: String?) throws(CommandFailure) {
        guard out == nil, hasSeveral else { return }
        throw CommandFailure(.usage, "several-images", "\(path) has several images. Name another file with --out.")
    }

    /// Saves what a tag holds now.
    ///
    /// - Parameters:
    ///   - tag: the tag that the image made.
    ///   - out: the file; the image's own when nil.
    func save(_ tag: any VirtualTag, to out: String?) throws(CommandFailure) {
        let format = out.flatMap { TagImage.Format(path: $0) } ?? image.format
        var changed = image
        changed.update(from: tag)
        if format != image.format { changed = TagImage(changed.contents, format: format) }
        try Self.save(changed, to: out ?? path)
    }

    /// Saves the image in another file and format. In its own format it is what it was, octet for octet.
    func convert(to format: TagImage.Format, out: String) throws(CommandFailure) {
        try Self.save(format == image.format ? image : TagImage(image.contents, format: format), to: out)
    }

    /// Saves an image so that the file is the old or the new one, whatever happens.
    static func save(_ image: TagImage, to path: String) throws(CommandFailure) {
        let octets: [UInt8]
        do throws(TagImageError) {
            octets = try image.encoded()
        } catch {
            let step = image.format == .json ? "" : " A file in the format json can."
            throw CommandFailure(.refused, error.code.description, "\(path) is not written: \(error.reason)\(step)")
        }
        do {
            try Data(octets).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandFailure(
                .refused,
                "unwritable-file",
                "\(path) can't be written. Check the folder and its owner."
            )
        }
    }

    /// The lines of a file in which every line is a JSON object; none for any other file.
    private static func jsonLines(_ data: Data) -> [Data] {
        let lines = data.split(separator: 0x0A).filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x0D } }
        let areObjects = lines.allSatisfy { line in
            line.first == UInt8(ascii: "{") && line.last { $0 != 0x20 && $0 != 0x0D } == UInt8(ascii: "}")
        }
        return areObjects ? lines.map { Data($0) } : []
    }

    private static func choose(_ id: String?, from lines: [Data]) -> Data? {
        guard let id else { return lines.first }
        return lines.first { line in
            let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
            return object?["id"] as? String == id
        }
    }
}

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
