// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinkDelivery
import LinuxSupport
import NDEF
import NFCSessions
import TagImages
import VirtualTags

/// The demo's replacement for the user's folders (apps, inbox and tags), in one private folder.
final class DemoSandbox {
    /// The prefix of the folder's name.
    private static let prefix = "nfc-demo"
    static let domain = "tagreader.example"
    static let link = "https://\(domain)/welcome"

    let folder: PrivateFolder
    let programs: DemoPrograms
    private(set) var environment: [String: String]
    var busAddress: String {
        get { environment["DBUS_SESSION_BUS_ADDRESS"] ?? "" }
        set { environment["DBUS_SESSION_BUS_ADDRESS"] = newValue }
    }
    private let tag: TagImage
    /// Cleans up if this process is killed.
    private let lifeline: Lifeline

    init(programs: DemoPrograms, usesDesktop: Bool) async throws {
        tag = try await Self.makeTag()
        let folder = try PrivateFolder.random(Self.prefix)
        let words = [ProgramPath.own, folder.path].compactMap(\.self)
        guard words.count == 2, let lifeline = Lifeline(script: #"exec "$0" demo --take-away "$1""#, words: words)
        else {
            try? FileManager.default.removeItem(atPath: folder.path)
            let message = "/bin/sh can't be started. It is needed to clean up if the demonstration is killed."
            throw CommandFailure("not-started", message)
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

    /// Returns the environment for the demo's programs. `PATH` starts with the sample app's folder.
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
        // The display's socket name is relative to the original runtime folder.
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
        variables[Self.mark] = path
        return variables
    }

    private static func makeTag() async throws -> TagImage {
        guard let product = TagProduct(named: "NTAG215") else {
            throw CommandFailure("no-product", "There is no virtual NTAG215.")
        }
        let tag = product.blank(uid: nil, size: nil).makeTag()
        let records: [NDEFRecord] = [try .uri(link), try .text("Welcome to the demonstration.", language: "en")]
        let message = try NDEFMessage(records).encoded()
        let outcome = try await ImageTagRunner(tag).tag.write(message, checks: false, locks: false)
        if let failure = outcome.failure { throw CommandFailure(failure) }
        guard let contents = TagContents(of: tag) else {
            throw CommandFailure("no-product", "The virtual NTAG215 can't be saved to a file.")
        }
        return TagImage(contents, format: .json)
    }

    /// Installs the sample app's files, and its association file in developer mode.
    func install() throws {
        let name = "org.opencorenfc.TagReader"
        let data = try folder.folder("data")
        try data.folder("applications").write("\(name).desktop", read("\(name).desktop"))
        try data.folder("nfc").folder("apps").write("\(name).json", read("\(name).json"))
        for name in ["run", "tags", "state", "cache", "config"] { _ = try folder.folder(name) }
        let folders = UserFolders(environment: environment)
        try LocalAssociations(making: folders).add(read("apple-app-site-association"), for: Self.domain)
    }

    private func read(_ name: String) throws(StorageError) -> [UInt8] {
        try InputFile("\(programs.installation)/\(name)", limit: 64 << 10).readToEnd()
    }

    /// Places the tag on the virtual reader.
    func bringTag() throws { try ImageFile.save(tag, to: "\(folder.path)/tags/card.json") }

    /// Ends all programs started here, and deletes the folder. Call this once.
    func remove() {
        Self.remove(folder.path)
        lifeline.cut()
    }
}

struct DemoPrograms {
    let service: String
    let app: String
    /// The folder with the sample app's files.
    let installation: String

    init() throws {
        // A fresh clone has neither program. A single build creates both.
        let build =
            "Install the packages opencorenfc-service and opencorenfc-simulator, or build all in a clone: swift build"
        do {
            service = try ServiceInstallation.program.path()
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.name, "nfcd was not found next to nfc or in PATH. \(build)")
        }
        let folders = [Self.folder(service), ProgramPath.ownFolder].compactMap { $0 }
        let files = FileManager.default
        let found = folders.map { "\($0)/TagReader" }.first(where: ProgramPath.isProgram)
        guard let found else { throw CommandFailure("no-sample", "TagReader was not found next to nfc. \(build)") }
        app = found
        // Swift Package Manager puts resources next to the program: PACKAGE_TARGET.resources.
        let folder = Self.folder(found)
        let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
        let resources = names.filter { $0.hasSuffix("_TagReader.resources") }.sorted()
        let paths = resources.map { "\(folder)/\($0)/Installation" }
        guard let installation = paths.first(where: files.fileExists(atPath:)) else {
            throw CommandFailure("no-sample", "TagReader's files were not found next to it. \(build)")
        }
        self.installation = installation
    }

    private static func folder(_ path: String) -> String { (path as NSString).deletingLastPathComponent }
}

/// Cleaning up a demo: its folder, its programs and their children, which are found by an environment variable.
extension DemoSandbox {
    /// The variable's name. Its value is the demo's folder, whose name is unique.
    private static let mark = "NFC_DEMO"
    /// How long a program may take to end by itself, in tenths of a second.
    private static let patience = 30

    /// Cleans up a demo that was killed. Returns false if the folder does not belong to a demo.
    @discardableResult
    static func takeAway(_ path: String) -> Bool {
        let hasDemoPrefix = (path as NSString).lastPathComponent.hasPrefix(prefix + ".")
        guard hasDemoPrefix, (try? PrivateFolder(path, creates: false)) != nil else { return false }
        return remove(path)
    }

    @discardableResult
    private static func remove(_ path: String) -> Bool {
        endAll(of: path)
        return (try? FileManager.default.removeItem(atPath: path)) != nil
    }

    /// Ends the programs, first with SIGTERM, then with SIGKILL.
    private static func endAll(of folder: String) {
        for step in 0...patience {
            reap()
            let processes = all(of: folder)
            if processes.isEmpty { return }
            let number = step == patience ? SIGKILL : SIGTERM
            if step % 10 == 0 { for process in processes { kill(process, number) } }
            usleep(100_000)
        }
        reap()
    }

    private static func reap() {
        while waitpid(-1, nil, WNOHANG) > 0 {}
    }

    private static func all(of folder: String) -> [pid_t] {
        let entry = Array("\(mark)=\(folder)".utf8)
        return (FolderNames.read("/proc") ?? []).compactMap { name in
            guard let process = pid_t(name), process != getpid(),
                let file = try? InputFile("/proc/\(name)/environ", limit: 1 << 20), let bytes = try? file.readToEnd(),
                bytes.split(separator: 0).contains(entry[...])
            else { return nil }
            return process
        }
    }
}
