// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

func callISO15693Closures(_ tag: any NFCISO15693Tag, _ log: CallLog) {
    tag.sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration(
            manufacturerCode: 7,
            customCommandCode: 0xA0,
            requestParameters: nil
        )
    ) { _, error in log.add("sendCustomCommand", error) }
    tag.readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration(
            range: NSRange(location: 0, length: 2),
            chunkSize: 1
        )
    ) { _, error in log.add("readMultipleBlock", error) }
    tag.stayQuiet { error in log.add("stayQuiet", error) }
    tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 1) { _, error in log.add("readSingleBlock", error) }
    tag.readSingleBlock(requestFlags: [.highDataRate], blockNumber: 1) { result in
        log.add("readSingleBlock result", result)
    }
    tag.writeSingleBlock(requestFlags: [.highDataRate], blockNumber: 1, dataBlock: Data([1, 2, 3, 4])) { error in
        log.add("writeSingleBlock", error)
    }
    tag.lockBlock(requestFlags: [.highDataRate], blockNumber: 1) { error in log.add("lockBlock", error) }
    tag.readMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { _, error in
        log.add("readMultipleBlocks", error)
    }
    tag.readMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { result in
        log.add("readMultipleBlocks result", result)
    }
    tag.writeMultipleBlocks(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1),
        dataBlocks: [Data([1, 2, 3, 4])]
    ) { error in log.add("writeMultipleBlocks", error) }
    tag.select(requestFlags: [.highDataRate]) { error in log.add("select", error) }
    tag.resetToReady(requestFlags: [.highDataRate]) { error in log.add("resetToReady", error) }
    tag.writeAFI(requestFlags: [.highDataRate], afi: 1) { error in log.add("writeAFI", error) }
    tag.lockAFI(requestFlags: [.highDataRate]) { error in log.add("lockAFI", error) }
    tag.writeDSFID(requestFlags: [.highDataRate], dsfid: 1) { error in log.add("writeDSFID", error) }
    tag.lockDSFID(requestFlags: [.highDataRate]) { error in log.add("lockDSFID", error) }
    tag.getSystemInfo(requestFlags: [.highDataRate]) { result in log.add("getSystemInfo result", result) }
    tag.getMultipleBlockSecurityStatus(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        _,
        error in log.add("getMultipleBlockSecurityStatus", error)
    }
    tag.fastReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) { result in
        log.add("fastReadMultipleBlocks result", result)
    }
    tag.customCommand(
        requestFlags: [.highDataRate],
        customCommandCode: 0xA0,
        customRequestParameters: Data([1, 2, 3, 4])
    ) { _, error in log.add("customCommand", error) }
    tag.customCommand(
        requestFlags: [.highDataRate],
        customCommandCode: 0xA0,
        customRequestParameters: Data([1, 2, 3, 4])
    ) { result in log.add("customCommand result", result) }
    tag.extendedReadSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { _, error in
        log.add("extendedReadSingleBlock", error)
    }
    tag.extendedReadSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { result in
        log.add("extendedReadSingleBlock result", result)
    }
    tag.extendedWriteSingleBlock(requestFlags: [.highDataRate], blockNumber: 0xA0, dataBlock: Data([1, 2, 3, 4])) {
        error in log.add("extendedWriteSingleBlock", error)
    }
    tag.extendedLockBlock(requestFlags: [.highDataRate], blockNumber: 0xA0) { error in
        log.add("extendedLockBlock", error)
    }
    tag.extendedReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        _,
        error in log.add("extendedReadMultipleBlocks", error)
    }
    tag.extendedWriteMultipleBlocks(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1),
        dataBlocks: [Data([1, 2, 3, 4])]
    ) { error in log.add("extendedWriteMultipleBlocks", error) }
    tag.authenticate(requestFlags: [.highDataRate], cryptoSuiteIdentifier: 0xA0, message: Data([1, 2, 3, 4])) {
        result in log.add("authenticate result", result)
    }
    tag.keyUpdate(requestFlags: [.highDataRate], keyIdentifier: 0xA0, message: Data([1, 2, 3, 4])) { result in
        log.add("keyUpdate result", result)
    }
    tag.challenge(requestFlags: [.highDataRate], cryptoSuiteIdentifier: 0xA0, message: Data([1, 2, 3, 4])) { error in
        log.add("challenge", error)
    }
    tag.readBuffer(requestFlags: [.highDataRate]) { result in log.add("readBuffer result", result) }
    tag.extendedGetMultipleBlockSecurityStatus(
        requestFlags: [.highDataRate],
        blockRange: NSRange(location: 0, length: 1)
    ) { result in log.add("extendedGetMultipleBlockSecurityStatus result", result) }
    tag.extendedFastReadMultipleBlocks(requestFlags: [.highDataRate], blockRange: NSRange(location: 0, length: 1)) {
        result in log.add("extendedFastReadMultipleBlocks result", result)
    }
    tag.sendRequest(requestFlags: 0xA0, commandCode: 0xA0, data: nil) { result in log.add("sendRequest result", result)
    }
}
