import Foundation
import Testing

@testable import Sidecars

/// What is no well-formed XML, or asks for more than a sidecar has to.
struct XMLScannerTests {
    private func error(_ text: String) -> SidecarError? {
        do throws(SidecarError) {
            _ = try XMPSidecar(Data(text.utf8), now: now)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        #"<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>"#,
        #"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>"#,
        #"<?xml version="1.0"?> <!doctype x><x/>"#, "<x><!ENTITY a 'b'></x>", "<x/><!DOCTYPE x>",
        "<!ELEMENT x ANY><x/>",
    ]) func documentTypesAreRefused(text: String) { #expect(error(text) == .documentType) }

    @Test(arguments: [
        ("<x", "a tag does not end"), ("<x>", "an element does not end"),
        ("<x></y>", "an element ends that did not begin"),
        ("</x>", "an element ends that did not begin"), ("<x/><y/>", "there is more than one root element"),
        ("<x/>text", "text stands outside of the elements"), ("text", "text stands outside of the elements"),
        ("<![CDATA[x]]><x/>", "text stands outside of the elements"), ("<!-- x --><?y?>", "there is no element"),
        ("<x><!-- </x>", "a comment does not end"), ("<?x <x/>", "a processing instruction does not end"),
        ("<x><![CDATA[ </x>", "a CDATA section does not end"), ("<x a></x>", "an attribute has no value"),
        ("<x a=b></x>", "a value has no quotes"), ("<x a='b></x>", "a tag begins inside a value"),
        ("<x a='b", "a value does not end"), ("<x a='1' a='2'/>", "an element has an attribute twice"),
        ("<x xmlns:a='u' xmlns:b='u' a:n='1' b:n='2'/>", "an element has an attribute twice"),
        ("<x a='1'b='2'/>", "there is no space before an attribute"), ("<x a='1' / >", "a tag does not end"),
        ("< x/>", "a name is missing"), ("<1/>", "a name is missing"),
        ("<a:x/>", "a prefix is not bound to a namespace"),
        ("<x a:b='1'/>", "a prefix is not bound to a namespace"),
        ("<x><y xmlns:a='u'/><a:z/></x>", "a prefix is not bound to a namespace"),
        ("<x>&a;</x>", "an entity is not one of XML's own"), ("<x>&#0;</x>", "an entity is not one of XML's own"),
        ("<x>&#xD800;</x>", "an entity is not one of XML's own"),
        ("<x>&#+65;</x>", "an entity is not one of XML's own"),
        ("<x>&#x110000;</x>", "an entity is not one of XML's own"), ("<x>& </x>", "an entity does not end"),
        ("<x a='&amp'/>", "an entity does not end"), ("<x>\u{0}</x>", "a zero byte stands in the text"),
        ("<x a='\u{0}'/>", "a zero byte stands in the text"),
        ("<x><![CDATA[\u{0}]]></x>", "a zero byte stands in the text"),
        ("{}", "text stands outside of the elements"),
    ]) func whatIsNotWellFormed(text: String, reason: String) {
        guard case .malformed(reason, let offset) = error(text) else {
            Issue.record("\(text): \(error(text).map { "\($0)" } ?? "taken")")
            return
        }
        #expect(offset <= text.utf8.count)
    }

    @Test(arguments: [
        "<x/>", "<x a='>'/>", "<x xmlns='u'><y xmlns=''/></x>", "<x><y xmlns:a='u'><a:z a:b='1' b='1'/></y></x>",
        "<x>&lt;&#233;&#xE9;&apos;</x>", "<x><!-- <!DOCTYPE y> -- ></x> --><![CDATA[<!DOCTYPE y>]]]]></x>",
        "<x xml:lang='de'/>", "<é ü='1'/>",
    ]) func whatIsWellFormedAndNoXMP(text: String) { #expect(error(text) == .notXMP) }

    @Test func depthIsBounded() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<x>", count: depth) + String(repeating: "</x>", count: depth)
        }
        #expect(error(nested(SidecarLimits.depth)) == .notXMP)
        #expect(error(nested(SidecarLimits.depth + 1)) == .nestedTooDeeply)
        #expect(error(String(repeating: "<x>", count: 300_000)) == .nestedTooDeeply)
    }

    /// A mebibyte of whatever costs most must not cost more than its bytes. There is no clock in this: where the work
    /// grew with the square of the size, the test would take hours.
    @Test(arguments: [
        ("<x>", "&lt;", "</x>"), ("<x ", "a# = '' ", "/>"), ("<x ", "xmlns:a#='u' ", "/>"),
        ("<x>", "<y xmlns:a='u'/>", "</x>"),
        ("<x>", "<!---->", "</x>"), ("<x>", "<", "</x>"), ("<x>", "&", "</x>"), ("<x>", "<?", "</x>"),
        ("<x>", "<!--", "</x>"),
        ("<x>", "<![CDATA[]]>", "</x>"), ("<x>", "</", "</x>"), ("<x", "y", "/>"),
    ]) func largeOnesEnd(begin: String, middle: String, end: String) {
        let count = (SidecarLimits.bytes - 100) / (middle.utf8.count + 6)
        let text = (0..<count).reduce(into: begin) { $0 += middle.replacing("#", with: String($1)) } + end
        #expect(error(text) != nil)
    }

    @Test func emptyOnes() {
        for text in ["", " \n", "\u{0}\u{0}", "\u{FEFF}"] {
            #expect(error(text) != nil, "\(Array(text.utf8))")
        }
    }
}
