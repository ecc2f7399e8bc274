// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import Foundation
import PrivateStorage
import TagLink
public import VirtualTags

/// An image of a tag in a file, or one of several that are lines of a file.
struct ImageFile: Sendable {
    /// The file's path; `-` for standard input.
    private let path: String
    /// What people call the file.
    private let name: String
    private let hasSeveral: Bool
    private let image: TagImage

    /// No file of images is as large as this.
    private static let maximumSize = 16 << 20

    /// Reads an image.
    ///
    /// - Parameters:
    ///   - path: the file's path; `-` for standard input.
    ///   - id: the `id` of the image, where the file has several; nil for the first.
    init(path: String, id: String?) throws(CommandFailure) {
        self.path = path
        name = path == "-" ? "Standard input" : path
        let data: Data
        do throws(StorageError) {
            data = Data(try InputFile.named(path, limit: Self.maximumSize).readToEnd())
        } catch {
            let step = [.denied, .missing].contains(error.code) ? " Check its name and its owner." : ""
            let code = error.code == .tooLarge ? TagImageError.Code.tooLarge.description : "unreadable-file"
            throw CommandFailure(.refused, code, error.reason + step)
        }
        let lines = Self.jsonLines(data)
        hasSeveral = lines.count > 1
        let chosen = Self.choose(id, from: lines)
        if let id, chosen == nil {
            throw CommandFailure(.usage, "unknown-id", "\(name) has no image with the id '\(id)'.")
        }
        do throws(TagImageError) {
            image = try TagImage(parsing: [UInt8](hasSeveral ? chosen ?? data : data), as: TagImage.Format(path: path))
            Self.note(image.remarks.filter { $0.kind != .leftOut }, about: name)
        } catch {
            let place = error.line.map { "line \($0): " } ?? ""
            throw CommandFailure(.refused, error.code.description, "\(name): \(place)\(error.reason)")
        }
    }

    var product: String { image.product }

    /// The format of the file.
    var format: TagImage.Format { image.format }

    /// What the tag holds.
    var contents: TagContents { image.contents }

    /// What the file says that the tag does not show.
    var remarks: [TagImageRemark] { image.remarks }

    /// Writes remarks for people to standard error.
    private static func note(_ remarks: [TagImageRemark], about name: String) {
        for remark in remarks {
            StandardError.writeLine("Note: \(name): \(remark.text)")
        }
    }

    func makeTag() -> any VirtualTag { image.makeTag() }

    /// The file that the tag is saved to.
    ///
    /// - Parameter out: the file of the person's choice; the image's own when nil.
    func path(_ out: String?) -> String { out ?? path }

    /// Makes sure, before any work is done, that the image may be saved.
    func checkTarget(_ out: String?) throws(CommandFailure) {
        guard out == nil, hasSeveral else { return }
        throw CommandFailure(.usage, "several-images", "\(name) has several images. Name another file with --out.")
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
        noteLeftOut(format)
    }

    /// Says what a file of another format is without.
    private func noteLeftOut(_ format: TagImage.Format) {
        guard format != image.format else { return }
        Self.note(remarks.filter { $0.kind == .leftOut }, about: name)
    }

    /// Saves the image in another file and format. In its own format it is what it was, octet for octet.
    func convert(to format: TagImage.Format, out: String) throws(CommandFailure) {
        try Self.save(format == image.format ? image : TagImage(image.contents, format: format), to: out)
        noteLeftOut(format)
    }

    /// Saves an image so that a file is the old or the new one, whatever happens. One that is new is its owner's alone
    /// where it has keys or passwords other than the delivered ones.
    static func save(_ image: TagImage, to path: String) throws(CommandFailure) {
        let octets: [UInt8]
        do throws(TagImageError) {
            octets = try image.encoded()
        } catch {
            let step = image.format == .json ? "" : " A file in the format json can."
            throw CommandFailure(.refused, error.code.description, "\(path) is not written: \(error.reason)\(step)")
        }
        try OutputTarget(path).write(octets, readers: image.contents.holdsSecrets ? .ownerAlone : .everyone)
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

extension JSONWriter {
    /// Writes remarks about an image.
    mutating func member(remarks: [TagImageRemark]) {
        key("remarks")
        beginArray()
        for remark in remarks {
            beginObject()
            member("kind", remark.kind.description)
            member("message", remark.text)
            endObject()
        }
        endArray()
    }
}

extension TagImage.Format: ExpressibleByArgument {
    /// The names of the formats that are written: what an option takes.
    public static let allValueStrings = allCases.filter(\.isWritten).map(\.rawValue)

    /// A format to write.
    public init?(argument: String) {
        guard let format = Self(rawValue: argument), format.isWritten else { return nil }
        self = format
    }

    /// Makes sure that the format to write is known.
    ///
    /// - Parameters:
    ///   - format: the one that was asked for; what the name says when nil.
    ///   - out: the name of the file.
    ///   - option: the option that asks for one.
    static func check(_ format: Self?, out: String, option: String) throws {
        guard format == nil else { return }
        let step = "with one of: \(allValueStrings.joined(separator: ", "))."
        guard let named = Self(path: out) else {
            throw ValidationError("The name '\(out)' does not say the format. Add \(option) \(step)")
        }
        guard named.isWritten else {
            throw ValidationError("A TagInfo report is read, and not written. Add \(option) \(step)")
        }
    }

    /// The format that the ending of a file's name says.
    init?(path: String) {
        let endings: [(String, TagImage.Format)] = [
            (".nfc", .flipper), (".json", .json), (".jsonl", .json), (".bin", .proxmarkBinary), (".mfd", .mfd),
            (".eml", .proxmarkText), (".xml", .tagInfo),
        ]
        let name = path.lowercased()
        guard let format = endings.first(where: { name.hasSuffix($0.0) })?.1 else { return nil }
        self = format
    }
}
