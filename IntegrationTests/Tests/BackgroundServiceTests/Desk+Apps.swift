// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Apps on a desk.
extension Desk {
    private static let association =
        #"{"applinks":{"details":[{"appIDs":["OPENCORENFC.org.opencorenfc.TagReader"],"components":[{"/":"/x/*"}]}]}}"#

    /// Installs the sample app, which takes links of https://tagreader.example/x/ with their messages.
    ///
    /// - Parameter isBusActivated: whether the bus starts it; otherwise the deliverer runs its command.
    func installApp(isBusActivated: Bool = true) throws {
        let name = "org.opencorenfc.TagReader"
        let program = Self.programs.appending(path: "TagReader").path
        let store = "TAGREADER_STORE=\(folder.path)/messages.json"
        try write(
            "services/\(name).service",
            "[D-BUS Service]\nName=\(name)\nExec=/usr/bin/env \(store) \(program) --background\n"
        )
        try write(
            "data/applications/\(name).desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=Tag Reader
            Exec=env \(store) \(program) --background
            Implements=org.opencorenfc.UserActivity1;
            DBusActivatable=\(isBusActivated)
            MimeType=x-scheme-handler/tagreader;

            """
        )
        if !isBusActivated {
            try FileManager.default.removeItem(at: folder.appending(path: "services/\(name).service"))
        }
        try write(
            "data/nfc/apps/\(name).json",
            #"{"app_id":"OPENCORENFC.org.opencorenfc.TagReader","associated_domains":["applinks:tagreader.example"]}"#
        )
        let now = Int64(Date().timeIntervalSince1970)
        try write(
            "cache/nfc/links/tagreader.example.links",
            "nfc-links 1 \(now) \(now) \(Self.association.utf8.count) \n\(Self.association)",
            mode: 0o600
        )
    }

    /// The number of records of each message that the sample app received.
    func given() throws -> [Int] {
        let data = try Data(contentsOf: folder.appending(path: "messages.json"))
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (object?["messages"] as? [[String: Any]] ?? []).map { ($0["records"] as? [Any])?.count ?? 0 }
    }

    /// Installs a browser, which writes the number of its arguments and then one argument per line to the file `opened`.
    func installBrowser() throws {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" >> '\(folder.path)/opened'\n"
        try write("bin/browser", script, mode: 0o755)
        try write(
            "data/applications/browser.desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=Browser
            Exec=browser %u
            MimeType=x-scheme-handler/http;x-scheme-handler/https;x-scheme-handler/mailto;

            """
        )
        let types = ["http", "https", "mailto"].map { "x-scheme-handler/\($0)=browser.desktop" }
        let defaults = "[Default Applications]\n" + types.joined(separator: "\n") + "\n"
        try write("config/mimeapps.list", defaults)
    }
}
