// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetModel
import Foundation

/// `nfc fleet key`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Create a key for signing jobs.",
        discussion: """
            The private key is written to a new file that only you can read. Copy the
            printed lines into agent.toml of each node.

            Example:
              nfc fleet key ops.key --name ops

            Exit status: 0 success, 1 when the file can't be created.
            """
    )

    @Argument(help: "The file to create.")
    var file: String

    @Option(help: "The key's name at the nodes.", transform: NameArgument.parse)
    var name: NameArgument

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let key = SigningKey()
        let text = Data(key.seed).base64EncodedString() + "\n"
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == EEXIST ? "It already exists; nothing was changed." : "Check the folder."
            throw FleetFailure(.refused, "file", "The file \(file) can't be created. \(reason)")
        }
        defer { close(descriptor) }
        guard Output.write(String(text.dropLast()), to: descriptor), fsync(descriptor) == 0 else {
            throw FleetFailure(.refused, "file", "The file \(file) can't be written. Free some disk space.")
        }
        let path = file.hasPrefix("/") ? file : FileManager.default.currentDirectoryPath + "/" + file
        let shared = Data(key.publicKey.bytes).base64EncodedString()
        if json {
            let value: JSONValue = [
                "name": .string(name.name.text), "public": .string(shared), "private_file": .string(path),
            ]
            return Output.line(value.line)
        }
        Output.line("[[jobs.key]]\nname = \"\(name.name)\"\npublic = \"\(shared)\"")
        Output.note("And in \(FleetOptions.usualPath):\n[sign]\nkey = \"\(name.name)\"\nprivate_file = \"\(path)\"")
    }
}
