// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Apps on a desk.
extension Desk {
    private static let association =
        #"{"applinks":{"details":[{"appIDs":["TEAM.org.example.reader"],"components":[{"/":"/x/*"}]}]}}"#

    /// Installs an app that takes links of https://good.site.example/x/ with their messages. It writes what it gets to the
    /// file `app`.
    func installApp() throws {
        let probe = Self.programs.appending(path: "DeliveryProbe").path
        let command = "\(probe) org.example.Reader \(folder.path)/app"
        try write("services/org.example.Reader.service", "[D-BUS Service]\nName=org.example.Reader\nExec=\(command)\n")
        try write(
            "data/applications/org.example.Reader.desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=Reader
            Exec=\(command)
            DBusActivatable=true
            MimeType=x-scheme-handler/reader;

            """
        )
        try write(
            "data/nfc/apps/org.example.Reader.json",
            #"{"app_id":"TEAM.org.example.reader","associated_domains":["applinks:good.site.example"]}"#
        )
        let now = Int64(Date().timeIntervalSince1970)
        try write(
            "cache/nfc/links/good.site.example.links",
            "nfc-links 1 \(now) \(now) \(Self.association.utf8.count) \n\(Self.association)",
            mode: 0o600
        )
    }

    /// Installs a browser, which writes its arguments to the file `opened`, one a line, with their number before them.
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
