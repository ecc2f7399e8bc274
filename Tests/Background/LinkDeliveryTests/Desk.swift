// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import BusTesting
import Foundation
import LinkDelivery
import NDEF
import Testing

/// A user whose programs are shell scripts that log their words.
struct Desk {
    static let app = InstalledApp(id: "TEAM.app", name: "App", desktopID: "org.example.App", associatedDomains: [])
    let scratch: Scratch
    let environment: [String: String]

    init(_ bus: TestBus? = nil) throws {
        scratch = try Scratch()
        environment = [
            "HOME": scratch.path, "XDG_STATE_HOME": scratch.path + "/state", "XDG_CACHE_HOME": scratch.path + "/cache",
            "XDG_DATA_HOME": scratch.path + "/own", "XDG_DATA_DIRS": scratch.path + "/system",
            "XDG_CONFIG_HOME": scratch.path + "/config", "XDG_CONFIG_DIRS": scratch.path + "/etc",
            "PATH": scratch.path + "/bin",
            "DBUS_SESSION_BUS_ADDRESS": bus?.address ?? "unix:path=\(scratch.path)/nothing",
        ]
    }

    func deliverer(limit: Duration = .seconds(60), settling: Duration = .seconds(60)) -> LinkDeliverer {
        LinkDeliverer(environment: environment, limit: limit, settling: settling)
    }

    /// Installs a program that logs its words, and then goes on with a script.
    func program(_ name: String, _ rest: String = "exit 0") throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\" >> '\(scratch.path)/log'\n\(rest)\n"
        try scratch.write("bin/\(name)", script, mode: 0o755)
    }

    func entry(_ name: String, _ lines: String...) throws { try entry(name, lines: lines) }

    func entry(_ name: String, lines: [String]) throws {
        let text = (["[Desktop Entry]", "Type=Application", "Name=\(name)"] + lines).joined(separator: "\n")
        try scratch.write("own/applications/\(name).desktop", text)
    }

    func handlers(_ scheme: String, _ apps: String) throws {
        try scratch.write("config/mimeapps.list", "[Default Applications]\nx-scheme-handler/\(scheme)=\(apps)\n")
    }

    var log: [String] {
        let text = (try? String(contentsOfFile: scratch.path + "/log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func link() throws -> Delivery {
        let link = "https://example.org/a"
        let payload = try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: link,
            message: try NDEFMessage([try .uri(link)]).encoded()
        )
        return .app(Self.app, payload)
    }

    func clearLog() { try? FileManager.default.removeItem(atPath: scratch.path + "/log") }

    /// Expects an error with a code.
    func expect<Value>(
        _ code: DeliveryError.Code,
        _ row: String = "",
        at place: SourceLocation = #_sourceLocation,
        _ body: () throws -> Value
    ) {
        let error = #expect(throws: DeliveryError.self, "\(row)", sourceLocation: place) { _ = try body() }
        #expect(error?.code == code, "\(row)", sourceLocation: place)
    }
}
