// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import TagImages

/// Saves the simulator's whole state to one file, and opens such a file.
extension SimulatorState {
    /// What a saved file contains, as parsed.
    struct FileContents {
        var tags: [(id: String?, name: String, image: TagImage)] = []
        var rows: [TraceRow]
    }

    /// The version of the file format.
    static let fileVersion = 1

    /// The whole state as a file: tags, phone, switches, notifications and trace; and the commands of the apps, which
    /// only a scenario starts.
    var saved: JSON {
        let tags = drawer.cards.compactMap { card -> JSON? in
            guard let file = card.file else { return nil }
            return [
                "id": .string(card.id), "name": .string(card.name), "format": .string(file.format.rawValue),
                "base64": .string(Data(file.bytes).base64EncodedString()),
            ]
        }
        return [
            "opencorenfc_simulator": .int(Self.fileVersion), "tags": .array(tags), "phone": phone.saved,
            "switches": switches.json, "notifications": background.saved,
            "apps": .array(apps.apps.compactMap { $0.command.map { JSON.string($0) } }),
            "sessions": .array(sessions.map(\.json)), "trace": savedTrace,
        ]
    }

    /// The settings saved next to the tags when the simulator quits.
    var settings: JSON { ["phone": phone.saved, "switches": switches.json, "notifications": background.saved] }

    /// Restores ``settings``.
    mutating func restore(settings: JSON) {
        phone = Phone(settings["phone"] ?? [:])
        switches = Switches(settings["switches"] ?? [:])
        background = BackgroundService()
        background.restore(settings["notifications"] ?? [], now: now)
    }

    /// Parses a saved file.
    ///
    /// - Returns: the tags and the rows of the trace in the file.
    static func contents(of file: JSON) throws(SimulatorFailure) -> FileContents {
        guard file["opencorenfc_simulator"]?.int == fileVersion else {
            throw SimulatorFailure(
                "unknown-file",
                "This is not a simulator file, or a newer version wrote it. \"save\" creates one."
            )
        }
        guard let tags = file["tags"]?.array, tags.count <= Limits.tags else {
            throw SimulatorFailure("bad-file", "A file has at most \(Limits.tags) tags, in \"tags\".")
        }
        var contents = FileContents(rows: try rows(of: file))
        for tag in tags {
            guard let name = tag["name"]?.string, let data = Data(base64Encoded: tag["base64"]?.string ?? "") else {
                throw SimulatorFailure("bad-file", "A tag in the file has no name, or no valid Base64.")
            }
            let shown = try Drawer.name(name)
            do throws(TagImageError) {
                let format = tag["format"]?.string.flatMap { TagImage.Format(rawValue: $0) }
                let image = try TagImage(parsing: [UInt8](data), as: format)
                contents.tags.append((tag["id"]?.string, shown, image))
            } catch {
                throw SimulatorFailure("bad-file", "The tag \(shown) can't be read: \(error.reason)")
            }
        }
        return contents
    }

    /// Replaces the whole state by the contents of a file.
    mutating func open(_ file: JSON, _ contents: FileContents) throws(SimulatorFailure) {
        removeAll()
        drawer.removeAll()
        var ids: [String: String] = [:]
        for tag in contents.tags {
            let card = try drawer.add(name: tag.name, tag.image)
            if let id = tag.id { ids[id] = card.id }
        }
        restoreTrace(contents.rows, sessions: file["sessions"], ids: ids)
        let router = background.router
        phone.banner = nil
        // Programs keep running, so their screens and sheets stay.
        let (front, sheet) = (phone.front, phone.sheet)
        let wasLooking = background.isLooking
        phone = Phone(file["phone"] ?? [:])
        (phone.front, phone.sheet) = (front, sheet)
        background = BackgroundService()
        background.restore(file["notifications"] ?? [], now: now)
        watchesReplacedTags = turns.isWatched
        if wasLooking { effects.append(.stopWatching) }
        _ = background.handle(.router(router), now: now)
        _ = background.handle(.lock(isLocked: phone.isLocked), now: now)
        set(Switches(file["switches"] ?? [:]), changed: "leave_after")
        for part in Part.allCases { touch(part) }
    }
}
