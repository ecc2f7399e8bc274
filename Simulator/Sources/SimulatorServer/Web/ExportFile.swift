// SPDX-License-Identifier: Apache-2.0
import Foundation
import SimulatorModel

/// A file for a browser to save: a tag, the whole state, the trace or a test.
struct ExportFile: Sendable {
    var name: String
    var type: String
    var bytes: [UInt8]

    /// - Parameters:
    ///   - what: the path after `/export/`: `tag/ID`, `save`, `trace` or `test`.
    ///   - format: the format of a tag or of the trace; nil for the default format.
    init(_ what: String, format: String?, _ simulator: Simulator) throws(SimulatorFailure) {
        type = "application/octet-stream"
        if what.hasPrefix("tag/") {
            (name, bytes) = try simulator.exportTag(String(what.dropFirst(4)), format: format)
            return
        }
        switch what {
        case "save":
            name = "simulator.json"
            bytes =
                Data(base64Encoded: try simulator.perform(["do": "save"])["base64"]?.string ?? "").map { [UInt8]($0) }
                ?? []
        case "trace":
            let result = try simulator.perform(["do": "export_trace", "format": JSON(format ?? "pcapng")])
            name = result["name"]?.string ?? "trace"
            bytes = Data(base64Encoded: result["base64"]?.string ?? "").map { [UInt8]($0) } ?? []
        case "test":
            name = "SimulatedTests.swift"
            bytes = Array((try simulator.perform(["do": "copy_as_test"])["source"]?.string ?? "").utf8)
        default:
            throw SimulatorFailure(
                "no-such-file",
                "This file does not exist. The files are tag/ID, save, trace and test."
            )
        }
    }
}
