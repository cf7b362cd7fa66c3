// The gallery of a link, for whoever has its address: the photos in a grid, one of them large, and nothing else. It is written for old
// phones: no modules, no promises, no syntax that a browser of 2015 does not know.
(function () {
  'use strict';

  var language = /^de/i.test(navigator.language || '') ? 'de' : 'en';
  var texts = linkTexts[language];
  var base = location.pathname.replace(/\/+$/, '');
  var page = document.getElementById('page');
  var grid, moreButton, viewer;
  var photos = [];
  var total = 0;
  var after = null;
  var isReading = false;
  var startX = null;

  document.documentElement.lang = language;
  document.title = texts.photos;

  /** An element with attributes, listeners (on…) and children; text stays text. */
  function make(name, attributes, children) {
    var made = document.createElement(name);
    for (var key in attributes) {
      if (key.slice(0, 2) === 'on') made.addEventListener(key.slice(2), attributes[key]);
      else if (attributes[key] !== null) made.setAttribute(key, attributes[key]);
    }
    (children || []).forEach(function (child) {
      if (child) made.appendChild(typeof child === 'string' ? document.createTextNode(child) : child);
    });
    return made;
  }

  function fill(children) {
    while (page.firstChild) page.removeChild(page.firstChild);
    children.forEach(function (child) { if (child) page.appendChild(child); });
  }

  function say(text, value) { return text.replace('#', String(value)); }

  function shownDate(text) {
    var parts = text.split('-').map(Number);
    var how = [{ year: 'numeric' }, { year: 'numeric', month: 'long' }, { year: 'numeric', month: 'long', day: 'numeric' }][parts.length - 1];
    try {
      return new Date(parts[0], (parts[1] || 1) - 1, parts[2] || 1, 12).toLocaleDateString(language, how);
    } catch (error) {
      return text;
    }
  }

  /** Asks the machine with the photos; done gets the answer, and failed why there is none. */
  function ask(method, path, body, done, failed) {
    var request = new XMLHttpRequest();
    request.open(method, base + path);
    if (body) request.setRequestHeader('Content-Type', 'application/json');
    request.onload = function () {
      var answer = null;
      try { answer = JSON.parse(request.responseText); } catch (error) { /* It is no answer of ours. */ }
      if (request.status === 200 && answer) return done(answer);
      var data = answer && answer.error && answer.error.data || {};
      failed(data.link || 'away', data.retryAfterMs || 0);
    };
    request.onerror = function () { failed('away', 0); };
    request.send(body ? JSON.stringify(body) : null);
  }

  // Coming in

  function open(password) {
    ask('POST', '/open', password === undefined ? {} : { password: password }, show, fail);
  }

  /** Everything that was shown goes: a link that has ended shows nothing. */
  function fail(why, wait) {
    closeViewer();
    photos = [];
    grid = null;
    if (why === 'password' || why === 'wrong' || why === 'wait') return askPassword(why, wait);
    fill([
      make('h1', {}, [texts.photos]), make('p', { role: 'alert' }, [texts[why] || texts.away]),
      texts[why] && why !== 'away' ? null : make('button', { class: 'main', onclick: function () { open(); } }, [texts.again])]);
  }

  function askPassword(why, wait) {
    var seconds = Math.ceil(wait / 1000);
    var fault = [why === 'wrong' ? texts.wrong : '', seconds ? say(texts.wait, seconds) : ''].join(' ').trim();
    var field = make('input', { type: 'password', id: 'password', required: '', autocomplete: 'off', maxlength: '64' });
    fill([
      make('h1', {}, [texts.photos]), make('p', {}, [texts.locked]),
      make('form', {
        onsubmit: function (event) {
          event.preventDefault();
          open(field.value);
        }
      }, [
        make('label', { 'for': 'password' }, [texts.password]), field,
        fault ? make('p', { class: 'fault', role: 'alert' }, [fault]) : null,
        make('button', { type: 'submit', class: 'main' }, [texts.open])])]);
    field.focus();
  }

  // The grid

  function show(link) {
    total = link.photoCount;
    photos = [];
    after = null;
    if (link.title) document.title = link.title;
    var end = new Date(link.expiresAt);
    var facts = [total === 1 ? texts.one : say(texts.many, total)];
    if (!isNaN(end)) facts.push(say(texts.until, end.toLocaleDateString(language, { year: 'numeric', month: 'long', day: 'numeric' })));
    grid = make('ul', { id: 'grid' });
    moreButton = make('button', { hidden: '', onclick: read }, [texts.more]);
    fill([make('h1', {}, [link.title || texts.photos]), make('p', { class: 'quiet' }, [facts.join(' · ')]), grid, moreButton]);
    if (total === 0) page.insertBefore(make('p', {}, [texts.none]), grid);
    read();
  }

  function read() {
    if (isReading) return;
    isReading = true;
    ask('GET', '/photos' + (after ? '?after=' + encodeURIComponent(after) : ''), null, function (list) {
      isReading = false;
      after = list.next || null;
      list.photos.forEach(add);
      moreButton.hidden = !after;
      follow();
    }, function (why, wait) {
      isReading = false;
      fail(why, wait);
    });
  }

  function address(photo, kind) { return base + '/photos/' + photo.uuid + '/' + kind; }

  function label(index) { return say(photos[index].isFilm ? texts.film : texts.photo, index + 1) + Math.max(total, photos.length); }

  function add(photo) {
    var index = photos.push(photo) - 1;
    grid.appendChild(make('li', {}, [
      make('button', { 'aria-label': label(index), onclick: function () { location.hash = String(index + 1); } }, [
        make('img', { src: address(photo, 'thumbnail'), alt: '', loading: 'lazy', onerror: look }),
        photo.isFilm || photo.plays ? make('span', { class: 'film', 'aria-hidden': 'true' }, ['▶']) : null])]));
  }

  /** A picture did not come: it may be that the link has ended. */
  function look() {
    if (!grid) return;
    ask('GET', '/photos', null, function () {}, function (why, wait) {
      // A phone that was asleep has no network for a moment.
      if (why !== 'away') fail(why, wait);
    });
  }

  // One photo

  function follow() {
    var index = Number(location.hash.slice(1)) - 1;
    if (photos[index]) openViewer(index); else closeViewer();
  }

  function closeViewer() {
    if (!viewer) return;
    document.body.removeChild(viewer);
    document.body.style.overflow = '';
    page.removeAttribute('aria-hidden');
    viewer = null;
  }

  function step(by) {
    var index = Number(location.hash.slice(1)) - 1 + by;
    // One entry of the history is enough: Back closes the photo.
    if (photos[index]) location.replace('#' + (index + 1));
    if (after && index > photos.length - 10) read();
  }

  function close() {
    var index = Number(location.hash.slice(1)) - 1;
    location.replace('#');
    closeViewer();
    var tile = grid && grid.children[index];
    if (tile) tile.firstChild.focus();
  }

  function picture(photo, index) {
    if (photo.plays) {
      // The preview is turned already, and would be turned twice with the film.
      return make('video', {
        src: address(photo, 'film'), poster: photo.rotation ? null : address(photo, 'preview'), controls: '', playsinline: '',
        preload: 'metadata', onerror: look, 'aria-label': label(index), 'data-turned': photo.rotation || null
      });
    }
    // A phone has enough of 1,024 pixels, and a monitor has not.
    var kind = Math.max(screen.width, screen.height) > 1100 ? 'photo' : 'preview';
    return make('img', { src: address(photo, kind), alt: label(index), onerror: look });
  }

  function openViewer(index) {
    var photo = photos[index];
    closeViewer();
    var words = [photo.caption, photo.date && shownDate(photo.date), photo.isFilm && !photo.plays && texts.posterOnly]
      .filter(Boolean).join(' · ');
    viewer = make('div', { id: 'viewer', role: 'dialog', 'aria-modal': 'true', 'aria-label': label(index) }, [
      make('div', { class: 'picture' + (words ? ' told' : '') }, [picture(photo, index)]),
      make('div', { class: 'bar' }, [
        make('button', { onclick: close, 'aria-label': texts.close }, ['✕']),
        make('span', { class: 'ends' }, [
          photo.hasOriginal ? make('a', { class: 'button', href: address(photo, 'original') + '?download=1' }, [texts.original]) : null,
          ' ', make('a', { class: 'button', href: address(photo, 'photo') + '?download=1' }, [texts.save])])]),
      photos[index - 1] ? make('button', { class: 'step previous', 'aria-label': texts.previous, onclick: function () { step(-1); } }, ['‹']) : null,
      photos[index + 1] ? make('button', { class: 'step next', 'aria-label': texts.next, onclick: function () { step(1); } }, ['›']) : null,
      words ? make('p', { class: 'words' }, [words]) : null]);
    viewer.addEventListener('touchstart', function (event) { startX = event.touches.length === 1 ? event.touches[0].clientX : null; });
    viewer.addEventListener('touchend', function (event) {
      var way = startX === null ? 0 : event.changedTouches[0].clientX - startX;
      startX = null;
      if (Math.abs(way) > 50) step(way < 0 ? 1 : -1);
    });
    document.body.appendChild(viewer);
    document.body.style.overflow = 'hidden';
    page.setAttribute('aria-hidden', 'true');
    viewer.querySelector('button').focus();
    // The next one is there when it is asked for.
    if (photos[index + 1] && !photos[index + 1].plays) picture(photos[index + 1], index + 1);
  }

  window.addEventListener('hashchange', follow);
  document.addEventListener('keydown', function (event) {
    if (!viewer) return;
    if (event.key === 'Escape') close();
    if (event.key === 'ArrowLeft') step(-1);
    if (event.key === 'ArrowRight') step(1);
    if (event.key === 'Tab') {
      // Focus stays among what is seen.
      var all = viewer.querySelectorAll('button, a, video');
      var last = all[all.length - 1];
      if (event.shiftKey ? document.activeElement === all[0] : document.activeElement === last) {
        event.preventDefault();
        (event.shiftKey ? last : all[0]).focus();
      }
    }
  });
  window.addEventListener('scroll', function () {
    if (after && grid && window.innerHeight + window.pageYOffset > document.body.scrollHeight - 1000) read();
  });
  // A page that was put aside may be of a link that has ended since.
  document.addEventListener('visibilitychange', function () { if (!document.hidden) look(); });

  open();
})();
