// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import TagLink
import TagProtocols

extension DESFireInspection {
    var object: JSONObject {
        [
            "ok": true, "product": product, "uid": uid.hexText(), "free_bytes": freeMemory, "keys": keys?.object,
            "applications": applications?.map { application -> JSONObject in
                [
                    "aid": Self.name(application.identifier), "keys": application.keys?.object,
                    "files": application.files?.map {
                        ["number": Int($0.number)] + ($0.settings?.object ?? ["type": nil])
                    },
                ]
            },
        ]
    }

    var lines: [String] {
        var lines = ["\(product ?? "MIFARE DESFire"), UID \(uid.hexText())"]
        lines.append(freeMemory.map { "\($0) bytes are free" } ?? "The free memory needs the card's key")
        lines.append("Card: \(keys?.words ?? "its settings need its key")")
        guard let applications else { return lines + ["The list of the applications needs the card's key"] }
        if applications.isEmpty { lines.append("No applications") }
        for application in applications {
            lines.append(
                "Application \(Self.name(application.identifier)): "
                    + (application.keys?.words ?? "its settings need its key")
            )
            guard let files = application.files else {
                lines.append("  its files are listed with its key")
                continue
            }
            lines += files.map { "  file \($0.number): \($0.settings?.words ?? "of a kind that is not known")" }
        }
        return lines
    }
}

extension DESFireInspection.Keys {
    fileprivate var object: JSONObject {
        ["settings": [settings].hexText(), "kind": kind.name, "versions": versions.map(Int.init)]
    }

    fileprivate var words: String {
        let count = RecordText.count(versions.count, "\(kind.name) key")
        let list = versions.map(String.init).joined(separator: " ")
        let free = [settings & 0x02 != 0 ? "lists" : nil, settings & 0x04 != 0 ? "creates" : nil].compactMap { $0 }
        let everybody = free.isEmpty ? "all needs key 0" : "everybody \(free.joined(separator: " and "))"
        return "\(count), version \(list); settings \([settings].hexText()): \(everybody)"
    }
}

extension DESFireSecret.Kind {
    var name: String {
        switch self {
        case .des: "DES"
        case .tripleDES: "3DES"
        case .aes: "AES"
        }
    }
}

extension DESFireFileSettings {
    /// The size of a data file; nil for others.
    var size: Int? {
        switch kind {
        case .standard(let size), .backup(let size): size
        case .value, .linear, .cyclic: nil
        }
    }

    private var kindWords: String {
        switch kind {
        case .standard(let size): "\(size) bytes"
        case .backup(let size): "\(size) bytes with backup"
        case .value(let lower, let upper, _): "a value from \(lower) to \(upper)"
        case .linear(let size, let maximum, let count): "\(count) of \(maximum) records of \(size) bytes"
        case .cyclic(let size, let maximum, let count): "\(count) of \(maximum) cyclic records of \(size) bytes"
        }
    }

    private static let rightNames = [(12, "reads"), (8, "writes"), (4, "reads and writes"), (0, "changes rights")]

    private func holder(_ shift: Int) -> String {
        switch rights >> shift & 0x0F {
        case 0x0E: "everybody"
        case 0x0F: "nobody"
        case let number: "key \(number)"
        }
    }

    /// The settings in words.
    var words: String {
        let ways = protection == .maced ? "with MAC" : protection.name
        let rights = Self.rightNames.map { "\(holder($0.0)) \($0.1)" }.joined(separator: ", ")
        return "\(kindWords), \(ways); \(rights)"
    }

    var object: JSONObject {
        let (type, size, maximum, count): (String, Int?, Int?, Int?) =
            switch kind {
            case .standard(let size): ("standard", size, nil, nil)
            case .backup(let size): ("backup", size, nil, nil)
            case .value: ("value", nil, nil, nil)
            case .linear(let size, let maximum, let count): ("linear", size, maximum, count)
            case .cyclic(let size, let maximum, let count): ("cyclic", size, maximum, count)
            }
        return [
            "type": type, "size": size, "maximum": maximum, "count": count,
            "rights": rights.bigEndianBytes.hexText(),
            "protection": protection.name,
        ]
    }

    /// The value of a value file; nil for others.
    func value(of bytes: [UInt8]) -> Int? {
        guard case .value = kind, bytes.count == 4 else { return nil }
        return Int(Int32(truncatingIfNeeded: bytes.littleEndian(at: 0, count: 4)))
    }

    func lines(of bytes: [UInt8]) -> [String] {
        if let value = value(of: bytes) { return ["\(value)"] }
        switch kind {
        case .linear(let size, _, _), .cyclic(let size, _, _):
            if bytes.isEmpty { return ["No records"] }
            return stride(from: 0, to: bytes.count, by: max(size, 1)).map {
                bytes[$0..<min($0 + size, bytes.count)].hexText()
            }
        case .standard, .backup, .value: return [bytes.hexText()]
        }
    }
}
