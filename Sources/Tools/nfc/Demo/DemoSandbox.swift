// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinkDelivery
import LinuxSupport
import NDEF
import NFCSessions
import TagImages
import VirtualTags

/// The demonstration's own copy of a user's folders: apps, inbox and tags. All of them are in one private folder.
final class DemoSandbox {
    /// The domain of the sample app.
    static let domain = "tagreader.example"
    /// The link on the tag.
    static let link = "https://\(domain)/welcome"

    let folder: PrivateFolder
    let programs: DemoPrograms
    /// The environment of all programs that are started.
    private(set) var environment: [String: String]
    /// The bus of those programs.
    var busAddress: String {
        get { environment["DBUS_SESSION_BUS_ADDRESS"] ?? "" }
        set { environment["DBUS_SESSION_BUS_ADDRESS"] = newValue }
    }
    private let tag: TagImage
    /// The lock that marks the folder as in use.
    private let lock: Int32
    /// Removes everything when this process is killed.
    private let lifeline: Lifeline

    /// - Parameters:
    ///   - programs: the service and the sample app.
    ///   - usesDesktop: whether the app may open a window.
    init(programs: DemoPrograms, usesDesktop: Bool) async throws(CommandFailure) {
        tag = try await Self.makeTag()
        let folder: PrivateFolder
        do throws(StorageError) {
            folder = try PrivateFolder.random(DemoLeftovers.prefix)
            lock = try DemoLeftovers.lock(folder)
        } catch {
            throw CommandFailure(error)
        }
        guard let lifeline = DemoLeftovers.lifeline(of: folder) else {
            close(lock)
            try? FileManager.default.removeItem(atPath: folder.path)
            throw CommandFailure(
                .refused,
                "not-started",
                "/bin/sh can't be started. It is needed to clean up if the demonstration is killed."
            )
        }
        self.lifeline = lifeline
        self.folder = folder
        self.programs = programs
        environment = Self.environment(
            of: folder.path,
            app: programs.app,
            usesDesktop: usesDesktop,
            own: ProcessInfo.processInfo.environment
        )
    }

    /// The variables of the demonstration's programs.
    ///
    /// - Parameters:
    ///   - path: the demonstration's folder.
    ///   - app: the path of the sample app. Other programs are looked for beside it first.
    ///   - usesDesktop: whether the app may open a window.
    ///   - own: the variables of this process.
    static func environment(
        of path: String,
        app: String,
        usesDesktop: Bool,
        own: [String: String]
    ) -> [String: String] {
        var variables = own.filter { !$0.key.hasPrefix("NFC_") && !$0.key.hasPrefix("TAGREADER_") }
        for (name, folder) in [
            ("DATA_HOME", "data"), ("STATE_HOME", "state"), ("CACHE_HOME", "cache"), ("CONFIG_HOME", "config"),
            ("RUNTIME_DIR", "run"),
        ] {
            variables["XDG_\(name)"] = "\(path)/\(folder)"
        }
        // The name of the display's socket is relative to the folder that was replaced.
        if let display = own["WAYLAND_DISPLAY"], !display.isEmpty, !display.hasPrefix("/"),
            let folder = own["XDG_RUNTIME_DIR"]
        {
            variables["WAYLAND_DISPLAY"] = "\(folder)/\(display)"
        }
        if !usesDesktop { for name in ["DISPLAY", "WAYLAND_DISPLAY"] { variables[name] = nil } }
        variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
        let programs = (app as NSString).deletingLastPathComponent
        variables["PATH"] = programs + ":" + (own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
        variables["NFC_READER"] = "virtual"
        variables["NFC_TAGS"] = "\(path)/tags"
        variables["TAGREADER_STORE"] = "\(path)/messages.json"
        variables[DemoProcesses.mark] = path
        return variables
    }

    /// A tag with a link and a text, as a session would write it.
    private static func makeTag() async throws(CommandFailure) -> TagImage {
        guard let product = TagProduct(named: "NTAG215") else {
            throw CommandFailure(.refused, "no-product", "There is no virtual NTAG215.")
        }
        let tag = product.blank(uid: nil, size: nil).makeTag()
        let bench = try await TagBench(tag)
        let message: [UInt8]
        do {
            message = try NDEFMessage([.uri(link), .text("Welcome to the demonstration.", language: "en")]).encoded()
        } catch {
            throw CommandFailure(.refused, "bad-message", "\(error)")
        }
        if let failure = await bench.tag.write(message, checks: false, locks: false).failure {
            throw CommandFailure(failure)
        }
        guard let contents = TagContents(of: tag) else {
            throw CommandFailure(.refused, "no-product", "The virtual NTAG215 can't be saved to a file.")
        }
        return TagImage(contents, format: .json)
    }

    /// Installs the sample app with its files, and its association file in developer mode.
    func install() throws(CommandFailure) {
        let name = "org.opencorenfc.TagReader"
        do throws(StorageError) {
            let data = try folder.folder("data")
            try data.folder("applications").write("\(name).desktop", read("\(name).desktop"))
            try data.folder("nfc").folder("apps").write("\(name).json", read("\(name).json"))
            for name in ["run", "tags", "state", "cache", "config"] { _ = try folder.folder(name) }
            let folders = UserFolders(environment: environment)
            try LocalAssociations(making: folders).add(read("apple-app-site-association"), for: Self.domain)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func read(_ name: String) throws(StorageError) -> [UInt8] {
        try InputFile("\(programs.installation)/\(name)", limit: 64 << 10).readToEnd()
    }

    /// Brings the tag near the virtual reader.
    func bringTag() throws(CommandFailure) {
        try ImageFile.save(tag, to: "\(folder.path)/tags/card.json")
    }

    /// Ends every program that was started here, and removes the folder. Call it once.
    func remove() {
        DemoProcesses.endAll(of: folder.path)
        try? FileManager.default.removeItem(atPath: folder.path)
        lifeline.cut()
        close(lock)
    }
}
