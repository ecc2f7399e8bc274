// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagTrace
import TextSafety

extension PacketCapture {
    /// Writes the capture. It can hold what is on a card, so only its owner can read the file. Any other existing file,
    /// such as the recording itself, is not replaced.
    func save(to path: String) throws(CommandFailure) {
        if case .standardOutput = OutputTarget(path) { return StandardOutput.write(bytes) }
        do throws(StorageError) {
            try PrivateLog(path, replacing: Array(bytes.prefix(4))).append(bytes)
        } catch  where error.code == .occupied {
            throw CommandFailure(
                .refused,
                "not-a-capture",
                "\(path) is there already and is no capture. Name another file."
            )
        } catch {
            throw CommandFailure(.refused, "unwritable-file", error.reason)
        }
    }

    /// Prints what was written, and what was left out.
    func report(_ path: String, json: Bool) {
        for note in notes { StandardError.writeLine("Note: \(note)") }
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", true)
            writer.member("out", path)
            writer.member("packets", packetCount)
            writer.key("notes")
            writer.values(notes)
            writer.endObject()
            return writer.printLine()
        }
        printLine("\(path): \(packetCount) packet\(packetCount == 1 ? "" : "s")", beside: path)
    }
}
