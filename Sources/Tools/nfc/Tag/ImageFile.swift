// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
import Foundation
import Glibc
import LinuxSupport
public import TagImages
import TextSafety
import VirtualTags

/// A tag image in a file. A file may contain several images, one per line.
struct ImageFile: Sendable {
    private let path: String
    private let name: String
    private let hasSeveral: Bool
    private let image: TagImage

    private static let maximumSize = 16 << 20

    /// Reads the image with the given `id`, or the first image if `id` is nil. The UID is for a file without one.
    init(path: String, id: String?, uid: [UInt8]? = nil) throws {
        self.path = path
        name = path == "-" ? "Standard input" : path
        let data: Data
        do throws(StorageError) {
            data = Data(try InputFile.named(path, limit: Self.maximumSize).readToEnd())
        } catch {
            let step = [.denied, .missing].contains(error.code) ? " Check its name and its owner." : ""
            let code = error.code == .tooLarge ? TagImageError.Code.tooLarge.description : "unreadable-file"
            throw CommandFailure(code, error.reason + step)
        }
        let lines = try Self.jsonLines(data, of: name)
        hasSeveral = lines.count > 1
        let chosen = Self.choose(id, from: lines)
        if let id, chosen == nil {
            throw CommandFailure(.usage, "unknown-id", "\(name) has no image with the id '\(id)'.")
        }
        let bytes = [UInt8](hasSeveral ? chosen?.data ?? data : data)
        do throws(TagImageError) {
            image = try TagImage(parsing: bytes, as: TagImage.Format(path: path), uid: uid)
            Self.note(image.remarks.filter { $0.kind != .leftOut }, about: name)
        } catch {
            let place = (hasSeveral ? chosen?.number : error.line).map { "line \($0): " } ?? ""
            throw CommandFailure(error.code.description, "\(name): \(place)\(error.reason)")
        }
    }

    var product: String { image.product }

    var format: TagImage.Format { image.format }

    var contents: TagContents { image.contents }

    /// Remarks about contradictions, missing data, and parts that the virtual tag can't represent.
    var remarks: [TagImageRemark] { image.remarks }

    private static func note(_ remarks: [TagImageRemark], about name: String) {
        for remark in remarks {
            StandardError.writeLine("Note: \(name): \(remark.text)")
        }
    }

    func makeTag() -> any VirtualTag { image.makeTag() }

    func path(_ out: String?) -> String { out ?? path }

    /// Throws if saving would fail or lose data: the image comes from a pipe, the file has several images, or `out` is
    /// an existing file that is not an image.
    func checkTarget(_ out: String?) throws {
        if out == nil, Self.isPipe(path) {
            throw CommandFailure(
                .usage,
                "no-file",
                "The image comes from a pipe. Give a file to save it to: --out FILE, or --out - for standard output."
            )
        }
        if hasSeveral, out.map({ OutputFile.isOneFile($0, path == "-" ? "/dev/stdin" : path) }) ?? true {
            throw CommandFailure(.usage, "several-images", "\(name) has several images. Name another file with --out.")
        }
        if let out { try Self.checkPlace(out) }
    }

    /// Throws if the file exists and is not an image, because saving would overwrite it.
    static func checkPlace(_ out: String) throws {
        guard case .file(let path) = OutputTarget(out), !isReplaceable(path) else { return }
        let message = "\(path) already exists and is not an image that nfc writes. Name another file."
        throw CommandFailure("not-an-image", message)
    }

    /// Whether an image can be saved at a path: the file is missing, empty, or an image.
    private static func isReplaceable(_ path: String) -> Bool {
        do throws(StorageError) {
            let bytes = try InputFile(path, limit: TagImage.maximumSize).readToEnd()
            return bytes.isEmpty
                || (try? TagImage(parsing: bytes, as: TagImage.Format(path: path)))?.format.isWritten == true
        } catch {
            // Writing to an unreadable file fails with its own error.
            return error.code != .tooLarge
        }
    }

    /// Whether a path is a pipe, for example from another command. An image written there would be lost.
    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Saves the current content of a tag created from this image. If `out` is nil, overwrites the image's own file.
    func save(_ tag: any VirtualTag, to out: String?) throws {
        try checkTarget(out)
        let format = out.flatMap { TagImage.Format(path: $0) } ?? image.format
        var changed = image
        changed.update(from: tag)
        if format != image.format { changed = TagImage(changed.contents, format: format) }
        try Self.save(changed, to: out ?? path)
        let place = out ?? path
        var status = stat()
        let mode = unsafe stat(place, &status) == 0 ? status.st_mode : 0
        if !contents.holdsSecrets, changed.contents.holdsSecrets, mode & 0o044 != 0 {
            let note = "Note: Others can read \(place), which now has a password or key: chmod 600 \(place)"
            StandardError.writeLine(note)
        }
        warnAboutOmissions(in: format)
    }

    private func warnAboutOmissions(in format: TagImage.Format) {
        guard format != image.format else { return }
        Self.note(remarks.filter { $0.kind == .leftOut }, about: name)
    }

    /// Saves the image to another file and format. If the format is the same, the bytes do not change. Returns the names
    /// of what the format can't hold; if `isLossy` is false, that is an error.
    func convert(to format: TagImage.Format, out: String, isLossy: Bool) throws -> [String] {
        try checkTarget(out)
        let copy = format == image.format ? image : TagImage(image.contents, format: format)
        let lost = try Self.save(copy, to: out, isLossy: isLossy)
        warnAboutOmissions(in: format)
        if !lost.isEmpty {
            StandardError.writeLine("Note: \(out) does not have \(lost.joined(separator: ", ")).")
        }
        return lost
    }

    /// Saves an image atomically, so that a crash leaves either the old or the new file. A new file is readable only by
    /// its owner if it contains keys or passwords other than the factory defaults.
    ///
    /// - Returns: what the file does not have; none unless `isLossy`.
    @discardableResult
    static func save(_ image: TagImage, to path: String, isLossy: Bool = false) throws -> [String] {
        let bytes: [UInt8]
        var lost: [String] = []
        do throws(TagImageError) {
            if isLossy { (bytes, lost) = try image.encodedWithLoss() } else { bytes = try image.encoded() }
        } catch {
            let step = image.format == .json ? "" : " The format json can hold it."
            throw CommandFailure(error.code.description, "\(path) is not written: \(error.reason)\(step)")
        }
        try OutputTarget(path).write(bytes, readers: image.contents.holdsSecrets ? .ownerAlone : .everyone)
        return lost
    }

    private struct Line {
        var number: Int
        var data: Data

        private static let blanks: [UInt8] = [0x20, 0x09, 0x0D]

        var first: UInt8? { data.first { !Self.blanks.contains($0) } }
        var last: UInt8? { data.last { !Self.blanks.contains($0) } }
    }

    /// Returns the numbered lines of a file that consists of JSON objects, one per line; empty for other files.
    ///
    /// - Throws: ``CommandFailure`` if the first line is an object but another line is not.
    private static func jsonLines(_ data: Data, of name: String) throws -> [Line] {
        let lines = data.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
            .map { Line(number: $0 + 1, data: Data($1)) }
            .filter { $0.first != nil }
        let other = lines.first { $0.first != UInt8(ascii: "{") || $0.last != UInt8(ascii: "}") }
        guard let other else { return lines }
        // A single object may span several lines, or begin with a byte order mark.
        guard let first = lines.first, first.number != other.number, object(first) != nil else { return [] }
        let reason = "The first line is a JSON object, but this line is not. Correct or remove it."
        throw CommandFailure(
            TagImageError.Code.malformed.description,
            "\(name): line \(other.number): \(reason)"
        )
    }

    private static func object(_ line: Line) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: line.data)) as? [String: Any]
    }

    private static func choose(_ id: String?, from lines: [Line]) -> Line? {
        guard let id else { return lines.first }
        return lines.first { object($0)?["id"] as? String == id }
    }
}

extension TagImageRemark {
    var object: JSONObject { ["kind": kind.description, "message": text] }
}

extension TagImage.Format: ExpressibleByArgument {
    /// The names of the writable formats, for options.
    public static let allValueStrings = allCases.filter(\.isWritten).map(\.rawValue)

    public init?(argument: String) {
        guard let format = Self(rawValue: argument), format.isWritten else { return nil }
        self = format
    }

    /// Throws if the output format is unknown. If `format` is nil, the file name must determine it.
    static func check(_ format: Self?, out: String, option: String) throws {
        guard format == nil else { return }
        let step = "with one of: \(allValueStrings.joined(separator: ", "))."
        guard let named = Self(path: out) else {
            throw ValidationError("The name '\(out)' has no known extension. Add \(option) \(step)")
        }
        guard named.isWritten else { throw ValidationError("TagInfo reports can only be read. Add \(option) \(step)") }
    }

    /// Returns the format for a file name extension; nil if unknown.
    init?(path: String) {
        let endings: [(String, TagImage.Format)] = [
            (".nfc", .flipper), (".json", .json), (".jsonl", .json), (".bin", .proxmarkBinary), (".mfd", .mfd),
            (".eml", .proxmarkText), (".mct", .mct), (".xml", .tagInfo),
        ]
        let name = path.lowercased()
        guard let format = endings.first(where: { name.hasSuffix($0.0) })?.1 else { return nil }
        self = format
    }
}
