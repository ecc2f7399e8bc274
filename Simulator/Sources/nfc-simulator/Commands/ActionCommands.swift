// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import LinuxSupport
import SimulatorModel
import TagImages

/// The commands that send an action to the running simulator.
enum ActionCommands {
    static let all: [any ParsableCommand.Type] = [
        ListCommand.self, TapCommand.self, HoldCommand.self, RemoveCommand.self, LeaveCommand.self, LockCommand.self,
        UnlockCommand.self, SwitchCommand.self, NewCommand.self, ImportCommand.self, ExportCommand.self,
        StartCommand.self, DoCommand.self, QuitCommand.self,
    ]
}

/// The requirements of a command that sends an action.
protocol ActionCommand: ParsableCommand {
    var options: JSONOption { get }
    /// The action to send.
    func action() throws -> JSON
    /// Handles the result, and returns the part of it to print.
    func finish(_ result: JSON) throws -> JSON
    /// The result as text for users; nil to print nothing.
    func words(_ result: JSON) throws -> String?
}

struct JSONOption: ParsableArguments {
    @Flag(help: "Print one JSON object to standard output.")
    var json = false
}

extension ActionCommand {
    func finish(_ result: JSON) throws -> JSON { result }

    func words(_ result: JSON) throws -> String? { nil }

    func run() throws {
        let action = try action()
        let result = try finish(RunningSimulator(json: options.json).perform(action, json: options.json))
        if options.json {
            var members = result.object ?? [:]
            members["ok"] = true
            Output.line(.object(members))
        } else if let words = try words(result) {
            Output.text(words)
        }
    }
}

struct ListCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the tags in the drawer")
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "list"] }

    func words(_ result: JSON) -> String? {
        let rows = (result["tags"]?.array ?? []).map { tag in
            [
                tag["id"]?.string ?? "", tag["product"]?.string ?? "", tag["status"]?.string ?? "",
                tag["near"]?.bool == true ? "near" : "", tag["name"]?.string ?? "",
            ]
        }
        guard !rows.isEmpty else { return "The drawer is empty." }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { index, text in
                index < 4 ? text + String(repeating: " ", count: widths[index] - text.count) : text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

struct TapCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap",
        abstract: """
            Hold a tag near the phone for half a second
            """
    )
    @Argument(help: "The tag's id or name.") var tag: String
    @Option(help: "How long the tag stays, in milliseconds.") var ms = 500
    @Flag(help: "Wait until the tag has left again.") var wait = false
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "tap", "tag": .string(tag), "ms": .int(ms)] }

    func finish(_ result: JSON) throws -> JSON {
        if wait { usleep(UInt32(result["ms"]?.int ?? ms) * 1000) }
        return result
    }
}

struct HoldCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold a tag near the phone until it is taken away"
    )
    @Argument(help: "The tag's id or name.") var tag: String
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "hold", "tag": .string(tag)] }
}

struct RemoveCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Take one tag away")
    @Argument(help: "The tag's id or name.") var tag: String
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "remove", "tag": .string(tag)] }
}

struct LeaveCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "leave", abstract: "Take all tags away")
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "leave"] }
}

struct LockCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "lock", abstract: "Lock the phone")
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "lock"] }
}

struct UnlockCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "unlock", abstract: "Unlock the phone")
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "unlock"] }
}

struct SwitchCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Set a fault: radio, busy, noise, tear_write, and others",
        discussion: "For example: nfc simulator switch leave_after 12"
    )
    @Argument(help: "The switch.") var name: String
    @Argument(help: "true, false, a number, or null.") var value: String
    @OptionGroup var options: JSONOption

    func validate() throws { _ = try action() }

    func action() throws -> JSON {
        guard let value = try? JSON(parsing: value == "on" ? "true" : value == "off" ? "false" : value) else {
            throw ValidationError("The value of a switch must be true, false, a number, or null.")
        }
        return ["do": "switch", "name": .string(name), "value": value]
    }
}

struct NewCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Put a new tag into the drawer",
        discussion: "For example: nfc simulator new NTAG215 --name Poster --link https://example.com"
    )
    @Argument(help: "The product, such as NTAG215.") var product = "NTAG215"
    @Option(help: "The tag's name.") var name: String?
    @Option(help: "A link for its message.") var link: String?
    @Option(help: "A text for its message.") var text: String?
    @Option(help: "Its message in hexadecimal digits.") var message: String?
    @Option(help: "The machine readable zone of a travel document.") var mrz: String?
    @OptionGroup var options: JSONOption

    func action() -> JSON {
        var action: [String: JSON] = ["do": "new_tag", "product": .string(product)]
        for (key, value) in [
            ("name", name), ("link", link), ("text", text), ("message_hex", message), ("mrz", mrz),
        ] {
            if let value { action[key] = .string(value) }
        }
        return .object(action)
    }

    func words(_ result: JSON) -> String? { result["tag"]?.string }
}

struct ImportCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a tag from a dump"
    )
    @Argument(help: "The dump: Flipper, Proxmark3, .mfd, TagInfo or JSON.", completion: .file()) var file: String
    @OptionGroup var options: JSONOption

    func action() throws -> JSON {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Output.failure("unreadable-file", "\(file) can't be read: \(Self.reason(file)).", json: options.json)
        }
        let name = URL(fileURLWithPath: file).lastPathComponent
        return ["do": "import", "name": .string(name), "base64": .string(data.base64EncodedString())]
    }

    /// The system's reason why a file can't be read.
    private static func reason(_ file: String) -> String {
        var status = stat()
        if unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return "It is a folder" }
        let descriptor = unsafe open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let number = errno
        guard descriptor < 0 else {
            close(descriptor)
            return "It is not a regular file"
        }
        return unsafe String(cString: strerror(number))
    }

    func words(_ result: JSON) -> String? {
        ([result["tag"]?.string ?? ""] + (result["notes"]?.array ?? []).compactMap(\.string)).joined(separator: "\n")
    }
}

struct ExportCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "export", abstract: "Save a tag as a file")
    @Argument(help: "The tag's id or name.") var tag: String
    @Argument(help: "The file; - for standard output.", completion: .file()) var file: String
    @Option(help: "json, flipper, proxmark-json, proxmark-bin, proxmark-eml or mfd.") var format: String?
    @OptionGroup var options: JSONOption

    func validate() throws {
        guard !(options.json && file == "-") else {
            throw ValidationError("With --json, name a file: with -, both would go to standard output.")
        }
    }

    func action() -> JSON { ["do": "export_tag", "tag": .string(tag), "format": JSON(format)] }

    /// Whether nothing is lost by writing the file: it is missing, empty, or an image, as `nfc` requires too.
    private var isReplaceable: Bool {
        do throws(StorageError) {
            let bytes = try InputFile(file, limit: TagImage.maximumSize).readToEnd()
            return bytes.isEmpty || (try? TagImage(parsing: bytes, as: TagImage.Format(fileName: file))) != nil
        } catch {
            // Writing to an unreadable file fails with its own error.
            return error.code != .tooLarge
        }
    }

    /// Writes the exported file.
    func finish(_ result: JSON) throws -> JSON {
        guard let data = Data(base64Encoded: result["base64"]?.string ?? "") else {
            throw Output.failure("bad-answer", "The simulator's answer contains no file.", json: options.json)
        }
        guard isReplaceable else {
            let message = "\(file) already exists and is not an image of a tag. Name another file."
            throw Output.failure("not-an-image", message, json: options.json)
        }
        do {
            if file == "-" {
                try FileHandle.standardOutput.write(contentsOf: data)
            } else {
                // The tag may have keys or passwords.
                try OutputFile.write(Array(data), to: file, readers: .ownerAlone)
            }
        } catch let error as StorageError {
            throw Output.failure("unwritable-file", error.reason, json: options.json)
        } catch {
            throw Output.failure("unwritable-file", "Standard output can't be written.", json: options.json)
        }
        var members = result.object ?? [:]
        members["base64"] = nil
        members["path"] = .string(URL(fileURLWithPath: file).path)
        members["size"] = .int(data.count)
        return .object(members)
    }
}

struct StartCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start a program as an app on the phone",
        discussion: #"For example: nfc simulator start "swift run TagReader""#
    )
    @Argument(help: "The program with its arguments, as in a shell.") var command: String
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "start_app", "command": .string(command)] }

    func words(_ result: JSON) -> String? { result["app"]?.string }
}

struct DoCommand: ActionCommand {
    static let configuration = CommandConfiguration(
        commandName: "do",
        abstract: "Perform any action of the page, given as JSON",
        discussion: #"For example: nfc simulator do '{"do":"camera","on":true}'"#
    )
    @Argument(help: "The action.") var text: String
    @OptionGroup var options: JSONOption

    func validate() throws { _ = try action() }

    func action() throws -> JSON {
        do throws(JSON.Problem) {
            return try JSON(parsing: text)
        } catch {
            throw ValidationError("The action is not JSON: \(error.reason)")
        }
    }

    func words(_ result: JSON) -> String? { result.text }
}

struct QuitCommand: ActionCommand {
    static let configuration = CommandConfiguration(commandName: "quit", abstract: "Stop the running simulator")
    @OptionGroup var options: JSONOption

    func action() -> JSON { ["do": "quit"] }
}
