// SPDX-License-Identifier: Apache-2.0
import FleetModel
import TextSafety

/// Formats an event as one line for people. The event's content is untrusted.
enum EventText {
    /// - Parameters:
    ///   - node: the node in the topic. The broker restricts topics per node, but not what an event claims.
    ///   - reader: the reader in the topic.
    static func text(_ event: JSONValue, _ node: FleetName, _ reader: FleetName) -> String {
        let data = event["data"] ?? [:]
        let place = "\(node)/\(reader)"
        let kind = event["type"]?.text.flatMap(EventKind.init(type:))
        var words = [event["time"]?.text ?? "", place, kind?.rawValue ?? "unknown"]
        switch kind {
        case .tag: words += tag(data)
        case .removed:
            words.append(name(data))
            if let duration = data["duration_ms"]?.int { words.append("after \(seconds(duration)) s") }
        case .error: words += [data["code"]?.text ?? "", data["message"]?.text ?? ""]
        case .outcome: words += outcome(data)
        case nil: break
        }
        if event["late"]?.bool == true { words.append("(late)") }
        return VisibleText.escaped(words.filter { !$0.isEmpty }.joined(separator: "  "))
    }

    private static func name(_ data: JSONValue) -> String {
        data["uid"]?.text ?? data["uid_hash"]?.text.map { String($0.prefix(16)) + "…" } ?? ""
    }

    private static func tag(_ data: JSONValue) -> [String] {
        var words = [name(data), data["product"]?.text ?? data["technology"]?.text ?? ""]
        for record in data["message"]?["records"]?.elements ?? [] {
            let decoded = record["decoded"]
            if let text = decoded?["uri"]?.text ?? decoded?["text"]?.text { words.append(String(text.prefix(200))) }
        }
        if data["status"]?.text == "not-ndef" { words.append("no NDEF") }
        if let app = data["link"]?["app"]?.text { words.append("opens \(app)") }
        if let isAllowed = data["allowed"]?.bool { words.append(isAllowed ? "allowed" : "NOT ALLOWED") }
        return words
    }

    private static func outcome(_ data: JSONValue) -> [String] {
        [
            data["kind"]?.text ?? "", data["outcome"]?.text ?? "", name(data), data["tag_state"]?.text ?? "",
            data["serial"]?.int.map { "serial \($0)" } ?? "", data["code"]?.text ?? "", data["message"]?.text ?? "",
            data["repeated"]?.bool == true ? "(again)" : "",
        ]
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\(milliseconds % 1000 / 100)"
    }
}
