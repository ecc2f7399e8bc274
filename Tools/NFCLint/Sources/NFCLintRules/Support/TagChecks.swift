// SPDX-License-Identifier: Apache-2.0
import NDEF
import NFCLintEngine
import UniversalLinks

/// Checks the contents of tags as background reading would read them.
enum TagChecks {
    private static let supported: Set<String> = [
        "http", "https", "mailto", "sms", "tel", "facetime", "facetime-audio", "x-hm",
    ]

    /// The findings of one rule in the given messages and links.
    static func check(_ id: String, _ unit: Unit, _ findings: inout Findings) {
        guard unit.target.kind == .loose else { return }
        for (path, message) in unit.tagMessages {
            for (rule, text) in problems(message) where rule == id { findings.add(Place(path), text) }
        }
        for link in unit.options.links {
            for (rule, text) in problems(link) where rule == id { findings.add(Place(link), text) }
        }
    }

    private static func problems(_ message: NDEFMessage) -> [(String, String)] {
        let links = message.records.filter { $0.typeNameFormat == .wellKnown && $0.type == Array("U".utf8) }
        guard let first = links.first else {
            let names = Set(message.records.map(name)).sorted().joined(separator: ", ")
            var result = [
                ("TAG001", "The tag has no URI record, so nothing happens when it is read in the background.")
            ]
            if !message.records.isEmpty {
                result.append(("TAG005", "The tag has no record that is read in the background, only \(names)."))
            }
            return result
        }
        guard let code = first.payload.first, code < UInt8(URIPrefix.all.count), let uri = try? URIRecord(first).uri
        else {
            return [("TAG003", "The payload of the URI record has no prefix code.")]
        }
        var result = problems(uri)
        let isLink = scheme(uri) == "http" || scheme(uri) == "https"
        let later = links.dropFirst().contains { record in
            (try? URIRecord(record)).map { ["http", "https"].contains(scheme($0.uri)) } ?? false
        }
        if !isLink, later {
            result.append(("TAG002", "The first URI record is \(uri); the universal link after it is ignored."))
        }
        return result
    }

    private static func problems(_ uri: String) -> [(String, String)] {
        let scheme = scheme(uri)
        guard !scheme.isEmpty, uri.contains(":") else { return [("TAG003", "\(uri) is not a URL.")] }
        if !supported.contains(scheme) { return [("TAG004", "Background reading does not open \(scheme): links.")] }
        if scheme == "http" || scheme == "https" {
            do throws(LinkURL.Problem) {
                _ = try LinkURL(uri)
            } catch {
                return [("TAG003", "\(uri) is not a URL.")]
            }
            return scheme == "http" ? [("TAG007", "\(uri) is an http link.")] : []
        }
        let rest = uri.drop { $0 != ":" }.dropFirst().prefix { $0 != "?" && $0 != "&" }
        let isNumber = ["tel", "sms", "facetime", "facetime-audio"].contains(scheme) && !rest.contains("@")
        let isWhole = rest.first == "+" && !rest.contains(" ") && !rest.contains("%20")
        return isNumber && !isWhole ? [("TAG006", "The number of \(uri) has no country code, or contains spaces.")] : []
    }

    private static func scheme(_ uri: String) -> String {
        String(uri.prefix { $0 != ":" }).lowercased()
    }

    private static func name(_ record: NDEFRecord) -> String {
        let type = String(decoding: record.type, as: UTF8.self)
        switch (record.typeNameFormat, type) {
        case (.wellKnown, "T"): return "text"
        case (.wellKnown, "Sp"): return "smart poster"
        case (.media, "application/vnd.wfa.wsc"): return "Wi-Fi"
        case (.media, _): return type
        default: return "a record of type \(type)"
        }
    }
}

extension Unit {
    /// The messages in the given tag images, with their paths.
    var tagMessages: [(path: String, message: NDEFMessage)] {
        let paths = options.images.sorted()
        return paths.compactMap { path in
            guard let bytes = files.bytes(path), let message = TagFile.message(bytes) else { return nil }
            return (path, message)
        }
    }

    /// The links that should open the app: those in the messages, and those given as options.
    var tagLinks: [LinkURL] {
        let uris = tagMessages.compactMap { pair in
            pair.message.records.first { $0.typeNameFormat == .wellKnown && $0.type == Array("U".utf8) }
                .flatMap { try? URIRecord($0).uri }
        }
        return (uris + options.links).compactMap { try? LinkURL($0) }
    }
}
